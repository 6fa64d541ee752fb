// SPDX-License-Identifier: Apache-2.0
// Sorting, filtering and paging of the tables, saving of figures. A link can ask for an order and
// a filter: #sort=TABLE:COLUMN:desc&filter=TABLE:words
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

  class Table {
    constructor(figure) {
      const id = figure.id;
      this.columns = JSON.parse(document.getElementById(id + "-data").textContent).columns;
      this.size = this.columns[0].data.length;
      this.heads = [...figure.querySelectorAll("th")];
      this.body = figure.querySelector("tbody");
      this.status = figure.querySelector("[role=status]");
      this.input = figure.querySelector("input");
      this.box = figure.querySelector(".scroll");
      this.wide = figure.querySelector(".wide");
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
    measure() {
      this.wide.classList.toggle("scrolls", this.box.scrollWidth > this.box.clientWidth);
    }
    show(count) {
      this.shown = Math.min(count, this.rows.length);
      const lines = document.createDocumentFragment();
      for (const row of this.rows.slice(0, this.shown)) {
        const line = document.createElement("tr");
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
      this.measure();
    }
  }

  // Whether a table is wider than the page changes with both.
  addEventListener("resize", () => tables.forEach((table) => table.measure()));
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

  // What is saved is what the page holds.
  const save = (link, content, type) => {
    if (link.href.startsWith("blob:")) return;
    link.href = URL.createObjectURL(new Blob([content], {type}));
  };
  for (const link of document.querySelectorAll(".save a")) {
    const id = link.dataset.of;
    link.addEventListener("click", () => {
      if (link.download.endsWith(".svg")) {
        const picture = document.getElementById(id).querySelector("svg");
        save(link, new XMLSerializer().serializeToString(picture), "image/svg+xml");
      } else {
        save(link, JSON.parse(document.getElementById(id + "-csv").textContent), "text/csv");
      }
    });
  }
})();
