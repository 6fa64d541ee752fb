# docker build -t mapsim . && docker run --rm mapsim search eyeriss resnet50/conv2_3x3
FROM debian:12-slim AS build
COPY . /src
WORKDIR /src
RUN tools/setup-debian.sh --developer && cmake --workflow --preset package
FROM debian:12-slim
COPY --from=build /src/build/package/mapsim_*.deb /tmp/
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/mapsim_*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["mapsim"]
