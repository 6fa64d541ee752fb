// SPDX-License-Identifier: Apache-2.0
// A mapping step by step: the nest, the tile that each level holds, the array. Everything follows
// from the loops: what an instance works on is where its loops stand. A link can ask for a step:
// #step=STEPPER:17, or #step=STEPPER:17:GLB for the 17th tile of GLB.
'use strict';
(() => {
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const grouped = (n) => n.toLocaleString('en-US');
  const bytes = (bits) => {
    if (bits < 8) return `${bits} b`;
    const [unit, size] = [['GiB', 2 ** 33], ['MiB', 2 ** 23], ['KiB', 2 ** 13], ['B', 8]].find(
        ([, least]) => bits >= least);
    const tenths = bits / size * 10;  // rounded as in the text: ties to even
    return `${(tenths % 1 === 0.5 ? 2 * Math.round(tenths / 2) : Math.round(tenths)) / 10} ${unit}`;
  };
  const span = ([begin, size]) => (size === 1 ? `${begin}` : `${begin}\u2013${begin + size - 1}`);

  // The loops of a mapping. Where they stand is one index per temporal loop; `place` has one per
  // parallel loop.
  class Nest {
    constructor(data) {
      Object.assign(this, data);
      this.loops = [];
      const outer = this.dims.map(([, bound]) => bound);
      for (const node of this.nodes) {
        node.depth = this.loops.length;
        if (node.tensors) continue;
        node.bound = Math.ceil(outer[node.dim] / node.extent);
        node.outer = outer[node.dim];
        outer[node.dim] = node.extent;
        node.number = this.loops.length;
        this.loops.push(node);
      }
      this.index = this.loops.map(() => 0);
    }
    // "4 tiles of 16", "5 tiles of 12, the last of 8", as in the text of a mapping.
    tiles({bound, extent, outer}, what) {
      const last = outer % extent;  // 0: all are alike
      return `${bound} ${what}s of ${extent}` + (last ? `, the last of ${last}` : '');
    }
    // [first, count] per dim below `depth` loops; null: this instance has no work.
    tile(depth, place = null) {
      const tile = this.dims.map(([, bound]) => [0, bound]);
      for (let k = 0; k < depth; ++k) {
        const loop = this.loops[k];
        const range = tile[loop.dim];
        const offset = (loop.axis ? (place ? place[k] : 0) : this.index[k]) * loop.extent;
        if (offset >= range[1]) return null;
        range[0] += offset;
        range[1] = Math.min(loop.extent, range[1] - offset);
      }
      return tile;
    }
    // Iterations of the temporal loops from loop `from` to `depth`, of the first instance.
    count(from, depth, tile) {
      const over = (dim, k, size) => {
        while (k < depth && this.loops[k].dim !== dim) ++k;
        if (k >= depth) return 1;
        const {extent, axis} = this.loops[k];
        if (axis) return over(dim, k + 1, Math.min(extent, size));
        const tiles = Math.ceil(size / extent);
        const last = over(dim, k + 1, size - (tiles - 1) * extent);
        return tiles > 1 ? (tiles - 1) * over(dim, k + 1, extent) + last : last;
      };
      return tile.reduce((product, [, size], dim) => product * over(dim, from, size), 1);
    }
    // Puts the loops where they stand at iteration `ordinal` of the first `depth` of them.
    seek(ordinal, depth) {
      const sizes = this.dims.map(([, bound]) => [0, bound]);
      this.index.fill(0);
      for (let k = 0; k < depth; ++k) {
        const loop = this.loops[k];
        const size = sizes[loop.dim][1];
        sizes[loop.dim] = [0, Math.min(size, loop.extent)];
        if (loop.axis) continue;
        const each = this.count(k + 1, depth, sizes);
        this.index[k] = Math.min(Math.floor(ordinal / each), Math.ceil(size / loop.extent) - 1);
        ordinal -= this.index[k] * each;
        sizes[loop.dim] = [0, Math.min(loop.extent, size - this.index[k] * loop.extent)];
      }
    }
    // Points of a tensor in a tile: of each rank the coordinates that its terms reach.
    points(tensor, tile) {
      return this.tensors[tensor].ranks.reduce((product, terms) => {
        if (terms.length === 1) return product * tile[terms[0][0]][1];
        let reached = new Set([0]);
        for (const [dim, coefficient] of terms) {
          const next = new Set();
          for (const point of reached) {
            for (let i = 0; i < tile[dim][1]; ++i) next.add(point + coefficient * i);
          }
          reached = next;
        }
        return product * reached.size;
      }, 1);
    }
  }

  class Stepper {
    constructor(figure) {
      this.figure = figure;
      this.nest = new Nest(JSON.parse(document.getElementById(figure.id + '-data').textContent));
      this.calm = matchMedia('(prefers-reduced-motion: reduce)');
      this.find_strides();
      this.place = this.nest.loops.map(() => 0);
      this.build();
      this.choose(this.preferred());
    }
    // What one step can be: a tile of a level, or of what its compute units do.
    find_strides() {
      const {nest} = this;
      const depths = new Map();
      for (const node of nest.nodes) {
        if (node.tensors) depths.set(nest.levels[node.level].name, node.depth);
      }
      depths.set(nest.compute, nest.loops.length);
      this.strides = [];
      for (const [name, depth] of depths) {
        const total = nest.count(0, depth, nest.tile(0));
        if (total > 1) this.strides.push({name, depth, total});
      }
      if (!this.strides.length) {
        this.strides.push({name: nest.compute, depth: nest.loops.length, total: 1});
      }
    }
    preferred() {
      const short = this.strides.filter(({total}) => total <= 2000);
      return short.length ? short[short.length - 1] : this.strides[0];
    }

    build() {
      const {nest, figure} = this;
      this.slider = element('input', {type: 'range', min: 0, step: 1, 'aria-label': 'step'});
      this.status = element('output', {class: 'where'});
      const button = (words, label, act) => {
        const made = element('button', {type: 'button', 'aria-label': label, title: label}, words);
        made.addEventListener('click', act);
        return made;
      };
      this.play_button = button('play', 'play', () => this.play(!this.timer));
      this.select = element('select', {'aria-label': 'one step is'});
      this.strides.forEach(
          ({name, total}, i) => this.select.append(
              element('option', {value: i}, `a tile of ${name} (${grouped(total)})`)));
      if (this.strides.at(-1).name === nest.compute) {
        this.select.lastElementChild.textContent =
            `a step of ${nest.compute} (${grouped(this.strides.at(-1).total)})`;
      }
      this.select.addEventListener('change', () => this.choose(this.strides[this.select.value]));
      this.slider.addEventListener('input', () => this.go(+this.slider.value));
      const controls = element(
          'div', {class: 'controls'}, button('|\u25C0', 'first step', () => this.go(0)),
          button('\u25C0', 'step back', () => this.go(this.at - 1)), this.play_button,
          button('\u25B6', 'step on', () => this.go(this.at + 1)),
          button('\u25B6|', 'last step', () => this.go(this.stride.total - 1)), this.slider,
          element('label', {}, 'one step is ', this.select));
      figure.querySelector('pre').replaceWith(
          controls, this.status,
          element('div', {class: 'panes'}, this.build_nest(), this.build_levels()),
          this.build_array());
      figure.addEventListener('keydown', (event) => this.obey(event));
    }
    build_nest() {
      const {nest} = this;
      const box =
          element('div', {class: 'nest', role: 'group', 'aria-label': 'loops', tabindex: 0});
      for (const node of nest.nodes) {
        const line = element('div', {class: 'line', style: `padding-left:${1.1 * node.depth}em`});
        const name = node.tensors ? '' : nest.dims[node.dim][0];
        if (node.tensors) {
          line.classList.add('keep');
          const names = node.tensors.map((t) => nest.tensors[t].name).join(', ');
          line.append(`keep ${nest.levels[node.level].name}: ${names}`);
        } else if (node.axis) {
          line.append(
              `parallel ${name} in ${nest.tiles(node, 'block')} over ${node.axis} of ` +
              nest.fanouts[node.fanout].name);
        } else {
          line.append(`for ${name} in ${nest.tiles(node, 'tile')}: tile `);
          node.counter = element('b');
          line.append(node.counter);
        }
        node.line = line;
        box.append(line);
      }
      box.append(element(
          'div', {class: 'line keep', style: `padding-left:${1.1 * nest.loops.length}em`},
          nest.compute));
      return box;
    }
    build_levels() {
      const {nest} = this;
      const box = element('div', {class: 'levels'});
      this.tiles = [];
      nest.levels.forEach((level, l) => {
        const keeps = nest.nodes.filter((node) => node.tensors && node.level === l);
        if (!keeps.length) return;
        const card = element('div', {class: 'level'}, element('h4', {}, level.name));
        const used = element('span', {class: 'used'});
        card.firstChild.append(used);
        const rows = [];
        for (const keep of keeps) {
          for (const t of keep.tensors) {
            const words = element('span', {class: 'ranges'});
            const size = element('span', {class: 'size'});
            const row = element(
                'div', {class: `tile ${nest.tensors[t].role}`},
                element('b', {}, nest.tensors[t].name), words, size);
            card.append(row);
            rows.push({
              tensor: t,
              depth: keep.depth,
              level: l,
              row,
              words,
              size,
              bits: level.bits[t],
              said: ''
            });
          }
        }
        this.tiles.push({level, used, rows});
        box.append(card);
      });
      return box;
    }
    // The fanout that most loops spread over.
    build_array() {
      const {nest} = this;
      const spread = nest.loops.filter((loop) => loop.axis);
      if (!spread.length) return '';
      const fanouts = [...new Set(spread.map((loop) => loop.fanout))];
      this.fanout = fanouts[fanouts.length - 1];
      const choice = element('select', {'aria-label': 'array'});
      for (const f of fanouts) choice.append(element('option', {value: f}, nest.fanouts[f].name));
      choice.value = this.fanout;
      choice.addEventListener('change', () => {
        this.fanout = +choice.value;
        this.lay_out();
      });
      this.shade = element('select', {'aria-label': 'shade by'});
      this.shade.addEventListener('change', () => this.draw_array());
      this.canvas = element('canvas', {tabindex: 0, role: 'img'});
      this.readout = element('output', {class: 'readout'});
      this.canvas.addEventListener('pointermove', (event) => {
        this.point([
          Math.floor((event.offsetX - this.left) / this.wide),
          Math.floor((event.offsetY - this.top) / this.high)
        ]);
      });
      this.canvas.addEventListener('keydown', (event) => {
        const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [
                        0, 1
                      ]}[event.key];
        if (!move) return;
        event.preventDefault();
        event.stopPropagation();
        this.point([this.cell[0] + move[0], this.cell[1] + move[1]]);
      });
      matchMedia('(prefers-color-scheme: dark)')
          .addEventListener('change', () => this.draw_array());
      addEventListener('resize', () => this.lay_out());
      const tools = element(
          'div', {class: 'controls'},
          ...(fanouts.length > 1 ? [element('label', {}, 'array ', choice)] : []),
          element('label', {}, 'shade by ', this.shade), this.readout);
      return element('div', {class: 'array'}, tools, this.canvas);
    }
    lay_out() {
      if (!this.canvas) return;
      const {nest} = this;
      const {x, y} = nest.fanouts[this.fanout];
      this.cell = [0, 0];
      const dims = [...new Set(nest.loops.filter((loop) => loop.fanout === this.fanout && loop.axis)
                                   .map((loop) => loop.dim))];
      this.shade.replaceChildren(
          ...dims.map((d) => element('option', {value: d}, nest.dims[d][0])));
      const room = this.figure.clientWidth || 700;
      this.left = 26;
      this.top = 16;
      this.wide = Math.max(1, Math.min(72, Math.floor((room - this.left - 2) / x)));
      this.high = Math.max(1, Math.min(this.wide, Math.floor(480 / y)));
      const ratio = devicePixelRatio || 1;
      const width = this.left + this.wide * x + 1;
      const height = this.top + this.high * y + 1;
      this.canvas.width = width * ratio;
      this.canvas.height = height * ratio;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      this.canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
      this.draw_array();
    }
    // The indices of the parallel loops of the instance at a column and a row; null: none is there.
    instance([column, row]) {
      const place = [...this.place];
      const at = {X: column, Y: row};
      for (let k = this.nest.loops.length; k-- > 0;) {  // inner loops lie closer together
        const loop = this.nest.loops[k];
        if (!loop.axis || loop.fanout !== this.fanout) continue;
        place[k] = at[loop.axis] % loop.bound;
        at[loop.axis] = Math.floor(at[loop.axis] / loop.bound);
      }
      return at.X > 0 || at.Y > 0 ? null : place;
    }
    // What the instance works on: below the innermost loop of this fanout.
    work([column, row]) {
      const place = this.instance([column, row]);
      const last =
          this.nest.loops.findLastIndex((loop) => loop.fanout === this.fanout && loop.axis);
      return place && this.nest.tile(last + 1, place);
    }
    spread_dims() {
      return [...this.shade.options].map((option) => +option.value);
    }
    draw_array() {
      if (!this.canvas) return;
      const {x, y} = this.nest.fanouts[this.fanout];
      const ink = this.canvas.getContext('2d');
      const style = getComputedStyle(this.figure);
      const colour = (name) => style.getPropertyValue(name).trim();
      const dark = matchMedia('(prefers-color-scheme: dark)').matches;
      ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
      ink.font = '10px system-ui, sans-serif';
      const dims = this.spread_dims();
      const shade = +this.shade.value;
      const [begin, size] = this.whole(shade);
      let busy = 0;
      for (let row = 0; row < y; ++row) {
        for (let column = 0; column < x; ++column) {
          const tile = this.work([column, row]);
          const [left, top] = [this.left + column * this.wide, this.top + row * this.high];
          const gap = this.high > 8 ? 1 : 0;
          if (tile) {
            ++busy;
            const share = size > 1 ? (tile[shade][0] - begin) / size : 0.5;
            ink.fillStyle =
                dark ? `hsl(205 60% ${22 + 30 * share}%)` : `hsl(205 75% ${92 - 34 * share}%)`;
            ink.fillRect(left, top, this.wide - gap, this.high - gap);
            if (this.high >= 15) {
              this.label(
                ink, dims.map((d) => `${this.nest.dims[d][0]} ${span(tile[d])}`), left, top,
                dark ? '#ffffff' : '#10222e');
            }
          } else {
            ink.strokeStyle = colour('--line');
            ink.strokeRect(left + 0.5, top + 0.5, this.wide - gap - 1, this.high - gap - 1);
          }
        }
      }
      const [column, row] = this.cell;
      ink.strokeStyle = colour('--ink');
      ink.lineWidth = 2;
      ink.strokeRect(
          this.left + column * this.wide, this.top + row * this.high, this.wide - 1, this.high - 1);
      ink.lineWidth = 1;
      ink.fillStyle = colour('--muted');
      ink.textAlign = 'left';
      ink.fillText(`X: 0\u2026${x - 1}`, this.left, 11);
      ink.save();
      ink.translate(11, this.top);
      ink.rotate(Math.PI / 2);
      ink.fillText(`Y: 0\u2026${y - 1}`, 0, 0);
      ink.restore();
      const name = this.nest.fanouts[this.fanout].name;
      this.canvas.setAttribute(
          'aria-label', `${name}: ${grouped(busy)} of ${grouped(x * y)} instances have work`);
      const own = this.work(this.cell);
      this.readout.textContent = `${grouped(busy)} of ${grouped(x * y)} ${name} have work; ` +
          `x ${column}, y ${row}: ` +
          (own ? dims.map((d) => `${this.nest.dims[d][0]} ${span(own[d])}`).join(', ') : 'idle');
    }
    // Of a dim, what the whole array has now.
    whole(dim) {
      const first = this.nest.loops.findIndex((loop) => loop.fanout === this.fanout && loop.axis);
      return this.nest.tile(first)[dim];
    }
    label(ink, lines, left, top, fill) {
      // Words that are a little too wide are narrowed: none of its neighbours should be without.
      const widest = Math.max(...lines.map((line) => ink.measureText(line).width));
      if (0.7 * widest + 4 > this.wide || lines.length * 11 + 4 > this.high) return;
      ink.fillStyle = fill;
      ink.textAlign = 'center';
      lines.forEach(
          (line, i) => ink.fillText(
              line, left + this.wide / 2,
              top + this.high / 2 + 3.5 + 11 * (i - (lines.length - 1) / 2), this.wide - 4));
    }
    point([column, row]) {
      const {x, y} = this.nest.fanouts[this.fanout];
      const within = (n, size) => Math.max(0, Math.min(size - 1, n));
      this.cell = [within(column, x), within(row, y)];
      this.draw_array();
    }

    choose(stride) {
      // Stays at the tile that was shown.
      const share = this.stride ? this.at / this.stride.total : 0;
      this.stride = stride;
      this.select.value = this.strides.indexOf(stride);
      this.slider.max = stride.total - 1;
      this.lay_out();
      this.go(Math.round(share * stride.total));
    }
    go(ordinal) {
      const before = [...this.nest.index];
      this.at = Math.max(0, Math.min(this.stride.total - 1, ordinal));
      this.nest.seek(this.at, this.stride.depth);
      this.slider.value = this.at;
      this.show(before);
      if (this.at === this.stride.total - 1) this.play(false);
    }
    show(before) {
      const {nest} = this;
      const moved = nest.index.findIndex((index, k) => index !== before[k]);
      nest.loops.forEach((loop, k) => {
        if (!loop.counter) return;
        loop.counter.textContent = nest.index[k] + 1;
        loop.line.classList.toggle('moved', k === moved);
      });
      const fresh = [];
      for (const {level, used, rows} of this.tiles) {
        let bits = 0;
        for (const tile of rows) {
          const range = nest.tile(tile.depth);
          const size = nest.points(tile.tensor, range) * tile.bits;
          bits += size;
          const said = nest.tensors[tile.tensor]
                           .dims.filter((d) => nest.dims[d][1] > 1)
                           .map((d) => `${nest.dims[d][0]} ${span(range[d])}`)
                           .join('  ');
          const is_new = tile.said !== '' && said !== tile.said;
          tile.words.textContent = said || 'all';
          tile.size.textContent = bytes(size);
          tile.row.classList.toggle('new', is_new);
          if (is_new) fresh.push(`${nest.tensors[tile.tensor].name} in ${level.name}`);
          tile.said = said;
        }
        const share = level.capacity ? bits / level.capacity : 0;
        used.textContent =
            level.capacity ? `${bytes(bits)} of ${bytes(level.capacity)}` : bytes(bits);
        used.style.setProperty('--share', `${Math.min(100, 100 * share)}%`);
      }
      this.status.textContent = `step ${grouped(this.at + 1)} of ${grouped(this.stride.total)}` +
          (fresh.length ? `; new: ${fresh.join(', ')}` : '');
      this.draw_array();
    }
    play(on) {
      clearInterval(this.timer);
      this.timer = 0;
      if (on) {
        if (this.at === this.stride.total - 1) this.go(0);
        this.timer = setInterval(() => this.go(this.at + 1), this.calm.matches ? 1000 : 350);
      }
      this.play_button.textContent = on ? 'pause' : 'play';
      for (const name of ['aria-label', 'title']) {
        this.play_button.setAttribute(name, on ? 'pause' : 'play');
      }
    }
    obey(event) {
      if (event.target.matches('select') || event.ctrlKey || event.metaKey || event.altKey) return;
      const far = Math.max(1, Math.round(this.stride.total / 20));
      const wish = {
        ArrowRight: this.at + 1,
        ArrowLeft: this.at - 1,
        PageDown: this.at + far,
        PageUp: this.at - far,
        Home: 0,
        End: this.stride.total - 1
      }[event.key];
      if (wish !== undefined) {
        event.preventDefault();
        this.go(wish);
      } else if (event.key === ' ' && !event.target.matches('button')) {
        event.preventDefault();
        this.play(!this.timer);
      }
    }
  }

  const steppers = new Map();
  for (const figure of document.querySelectorAll('figure.stepper')) {
    steppers.set(figure.id, new Stepper(figure));
  }
  const obey = () => {
    for (const wish of decodeURIComponent(location.hash.slice(1)).split('&')) {
      const [, id, ordinal, name] = /^step=([^:]+):(\d+)(?::(.+))?$/.exec(wish) || [];
      const stepper = steppers.get(id);
      if (!stepper) continue;
      const stride = stepper.strides.find((one) => one.name === name);
      if (stride) stepper.choose(stride);
      stepper.go(+ordinal - 1);
    }
  };
  addEventListener('hashchange', obey);
  obey();
})();
