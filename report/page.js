// SPDX-License-Identifier: Apache-2.0
// Sorting, filtering and paging of the tables, saving and zooming of figures, and what lights up
// together. A link can ask for an order and a filter: #sort=TABLE:COLUMN:desc&filter=TABLE:words
"use strict";
(() => {
  const kPage = 100;
  const kLong = 30;  // letters, from which a cell may be cut short
  document.documentElement.classList.add("js");

  // Columns are numbers, texts, or indices into a dictionary of texts.
  const cell = (column, row) => {
    const value = column.data[row];
    return column.dictionary && value !== null ? column.dictionary[value] : value;
  };
  const text = (value) => (value === null ? "" : String(value));
  // "64 KiB", "1.2e6 cycles", "12": by size.
  const kFactors = {"": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30,
    m: 1e-3, u: 1e-6, n: 1e-9, p: 1e-12, f: 1e-15};
  const quantity = (words) => {
    const [, number, prefix] =
      /^([\d.]+(?:e[+-]?\d+)?) *((?:[kMGTmunpf]|[KMG]i)(?=[A-Za-z])|)[A-Za-z/]*$/.exec(words) || [];
    return number === undefined ? NaN : number * kFactors[prefix];
  };
  const compare = (x, y) => {
    const difference = quantity(x) - quantity(y);
    return Number.isNaN(difference) ? x.localeCompare(y, "en", {numeric: true}) : difference;
  };
  // What is empty comes last, either way.
  const order = (column, sign) => (a, b) => {
    const x = cell(column, a), y = cell(column, b);
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    const difference = column.text ? compare(x, y) : x - y;
    return sign * difference || a - b;
  };

  // What stands for one design ("17: ...") or one layer, in figures and tables, lights up together.
  // A mark says what it stands for in its title, a row in the columns `design` and `layer`. Numbers
  // of designs count in the list `designs`, names of layers in the network `layers`: a figure
  // names them in its attributes, a table for each of its rows. Without one there is no key.
  const key_of = (kind, within, name) => within ? [[kind, within, name].join("\t")] : [];
  const keys_of = (title) => {
    const {designs, layers} = title.closest("figure").dataset;
    const words = title.textContent;
    const [, design] = /^(\d+): /.exec(words) || [];
    const [name] = words.split(/(?: \u00D7\d+)?(?:, |: )/, 1);
    return design && designs ? key_of("design", designs, design) : key_of("layer", layers, name);
  };
  const marks = new Map();  // by key
  for (const title of document.querySelectorAll(".marks title")) {
    for (const key of keys_of(title)) {
      if (!marks.has(key)) marks.set(key, []);
      marks.get(key).push(title.parentElement);
    }
  }
  let pinned = null;
  const light = (keys) => {
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    for (const key of keys) {
      for (const mark of marks.get(key) || []) mark.classList.add("lit");
    }
    const wanted = new Set(keys);
    for (const row of document.querySelectorAll("tr[data-keys]")) {
      if (row.dataset.keys.split("\n").some((key) => wanted.has(key))) row.classList.add("lit");
    }
  };
  const keys_at = (target) => {
    const row = target.closest("tr[data-keys]");
    if (row) return row.dataset.keys.split("\n");
    const mark = target.closest(".marks > *");
    const title = mark && mark.querySelector("title");
    return title ? keys_of(title) : null;
  };
  document.addEventListener("pointerover", (event) => {
    if (!pinned && event.target.closest) light(keys_at(event.target) || []);
  });
  const pin = (keys) => {  // stays lit until the next click or Enter, or Escape
    pinned = keys && String(keys) !== String(pinned) ? keys : null;
    light(pinned || []);
  };
  document.addEventListener("click", (event) => pin(event.target.closest && keys_at(event.target)));
  // By keys: one row of a table is reached by Tab, the others from it by arrows.
  document.addEventListener("focusin", (event) => {
    if (!pinned) light(keys_at(event.target) || []);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pin(null);
    const row = event.target.closest && event.target.closest("tr[data-keys]");
    if (!row) return;
    if (event.key === "Enter") pin(row.dataset.keys.split("\n"));
    const next = {ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling}[event.key];
    if (!next) return;
    event.preventDefault();
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  // What is wider than the page says so, and can be scrolled by keys.
  const measure = (box) => {
    const over = box.scrollWidth > box.clientWidth;
    box.closest("figure").querySelector(".wide").classList.toggle("scrolls", over);
    box.tabIndex = over ? 0 : -1;
  };
  const measure_all = () => document.querySelectorAll(".scroll").forEach(measure);
  addEventListener("resize", measure_all);
  measure_all();

  class Table {
    constructor(figure) {
      const id = figure.id;
      const data = JSON.parse(document.getElementById(id + "-data").textContent);
      this.columns = data.columns;
      this.links = (data.links || []).flatMap(([rows, designs, layers]) =>
        Array(rows).fill({design: designs, layer: layers}));
      this.size = this.columns[0].data.length;
      this.keyed = Object.fromEntries(this.columns.map((column) => [column.key, column]));
      this.heads = [...figure.querySelectorAll("th")];
      this.body = figure.querySelector("tbody");
      this.status = figure.querySelector("[role=status]");
      this.input = figure.querySelector("input");
      this.box = figure.querySelector(".scroll");
      this.more = [...figure.querySelectorAll(".tools button")];
      this.column = -1;
      this.sign = 1;
      this.shown = kPage;
      this.rows = Array.from({length: this.size}, (_, i) => i);
      this.heads.forEach((head, i) =>
        head.firstElementChild.addEventListener("click", () => this.sort(i)));
      this.input.addEventListener("input", () => this.filter(this.input.value));
      this.more[0].addEventListener("click", () => this.show(this.shown + kPage));
      this.more[1].addEventListener("click", () => this.show(Infinity));
      this.show(kPage);
    }
    sort(index, sign) {
      // First up, as small is good here; the second time down.
      this.sign = sign || (index === this.column ? -this.sign : 1);
      this.column = index;
      this.heads.forEach((head, i) => head.setAttribute(
        "aria-sort", i === index ? (this.sign > 0 ? "ascending" : "descending") : "none"));
      this.rows.sort(order(this.columns[index], this.sign));
      this.show(kPage);
    }
    filter(words) {
      const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
      const found = [];
      for (let row = 0; row < this.size; ++row) {
        const all = this.columns.map((column) => text(cell(column, row))).join(" ").toLowerCase();
        if (wanted.every((word) => all.includes(word))) found.push(row);
      }
      this.rows = found;
      if (this.column >= 0) this.rows.sort(order(this.columns[this.column], this.sign));
      this.show(kPage);
    }
    show(count) {
      this.shown = Math.min(count, this.rows.length);
      const lines = document.createDocumentFragment();
      for (const row of this.rows.slice(0, this.shown)) {
        const line = document.createElement("tr");
        const keys = ["design", "layer"].flatMap((name) => {
          const value = this.keyed[name] && this.links[row] && cell(this.keyed[name], row);
          return value === null || value === undefined ? [] :
            key_of(name, this.links[row][name], value);
        });
        if (keys.length) {
          line.dataset.keys = keys.join("\n");
          line.tabIndex = lines.childElementCount ? -1 : 0;
        }
        for (const column of this.columns) {
          const field = document.createElement("td");
          const words = text(cell(column, row));
          if (column.text) field.className = "t";
          if (words.length > kLong) field.title = words;
          field.textContent = words;
          line.append(field);
        }
        lines.append(line);
      }
      this.body.replaceChildren(lines);
      const of = this.rows.length === this.size ? `${this.size}` :
        `${this.rows.length} found of ${this.size}`;
      this.status.textContent = `${this.shown} of ${of} rows`;
      this.more.forEach((button) => { button.hidden = this.shown === this.rows.length; });
      measure(this.box);
    }
  }

  const tables = new Map();
  for (const figure of document.querySelectorAll("figure.table")) {
    tables.set(figure.id, new Table(figure));
  }

  const obey = () => {
    for (const wish of decodeURIComponent(location.hash.slice(1)).split("&")) {
      const [, verb, id, rest] = /^(sort|filter)=([^:]+):(.*)$/.exec(wish) || [];
      const table = tables.get(id);
      if (!table) continue;
      if (verb === "filter") {
        table.input.value = rest;
        table.filter(rest);
      } else {
        const [key, direction] = rest.split(":");
        const index = table.columns.findIndex((column) => column.key === key);
        if (index >= 0) table.sort(index, direction === "desc" ? -1 : 1);
      }
    }
  };
  addEventListener("hashchange", obey);
  obey();

  // Figures of dots can be zoomed: wheel, drag, buttons. Dots and words keep their size, so that
  // what lay on one another comes apart.
  class Zoom {
    constructor(svg, tools) {
      this.svg = svg;
      const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
      this.whole = {x: 0, y: 0, width, height};
      this.sizes = [svg, ...svg.querySelectorAll("circle, text, tspan")].map((mark) =>
        [mark, mark.tagName === "circle" ? "r" : "font-size",
          Number(mark.getAttribute(mark.tagName === "circle" ? "r" : "font-size"))])
        .filter(([, , size]) => size > 0);
      const button = (words, label, act) => {
        const made = document.createElement("button");
        Object.assign(made, {type: "button", textContent: words, title: label});
        made.setAttribute("aria-label", label);
        made.addEventListener("click", act);
        tools.append(made);
      };
      button("+", "zoom in", () => this.by(1.5));
      button("\u2212", "zoom out", () => this.by(1 / 1.5));
      button("all", "zoom out to all", () => this.reset());
      svg.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && this.box.width === width && event.deltaY > 0) return;
        event.preventDefault();
        this.by(event.deltaY < 0 ? 1.2 : 1 / 1.2, this.at(event));
      }, {passive: false});
      svg.addEventListener("pointerdown", (event) => {
        if (this.box.width < width) this.held = this.at(event);
      });
      svg.addEventListener("pointermove", (event) => {
        if (!this.held || !event.buttons) return;
        const now = this.at(event);
        this.show({...this.box, x: this.box.x + this.held.x - now.x,
          y: this.box.y + this.held.y - now.y});
      });
      addEventListener("pointerup", () => { this.held = null; });
      this.box = this.whole;
    }
    at(event) {
      const {left, top, width, height} = this.svg.getBoundingClientRect();
      return {x: this.box.x + (event.clientX - left) / width * this.box.width,
        y: this.box.y + (event.clientY - top) / height * this.box.height};
    }
    by(factor, at = {x: this.box.x + this.box.width / 2, y: this.box.y + this.box.height / 2}) {
      const width = Math.max(this.whole.width / 40, this.box.width / factor);
      const scale = width / this.box.width;
      this.show({x: at.x + (this.box.x - at.x) * scale, y: at.y + (this.box.y - at.y) * scale,
        width, height: this.box.height * scale});
    }
    reset() { this.show(this.whole); }
    show(box) {
      const {whole} = this;
      const width = Math.min(box.width, whole.width);
      const height = Math.min(box.height, whole.height);
      this.box = {x: Math.max(0, Math.min(whole.width - width, box.x)),
        y: Math.max(0, Math.min(whole.height - height, box.y)), width, height};
      this.svg.setAttribute("viewBox",
        [this.box.x, this.box.y, width, height].map((n) => +n.toFixed(3)).join(" "));
      for (const [mark, name, size] of this.sizes) {
        mark.setAttribute(name, +(size * width / whole.width).toFixed(3));
      }
    }
  }
  const zooms = new Map();
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    const tools = figure.querySelector(".save");
    if (tools && svg && svg.querySelector(".marks circle")) {
      zooms.set(figure.id, new Zoom(svg, tools));
    }
  }

  // What is saved is what the page holds.
  const save = (link, content, type) => {
    if (link.href.startsWith("blob:")) return;
    link.href = URL.createObjectURL(new Blob([content], {type}));
  };
  for (const link of document.querySelectorAll(".save a")) {
    const id = link.dataset.of;
    link.addEventListener("click", () => {
      if (link.download.endsWith(".svg")) {
        if (zooms.has(id)) zooms.get(id).reset();
        const picture = document.getElementById(id).querySelector("svg");
        save(link, new XMLSerializer().serializeToString(picture), "image/svg+xml");
      } else {
        save(link, JSON.parse(document.getElementById(id + "-csv").textContent), "text/csv");
      }
    });
  }
})();
