// Heads of tables become buttons that sort. Without this script everything is there, in the order of the report.
const number = (cell) => {
  const found = (cell.dataset.sort ?? cell.textContent).replace(/\u2212/g, "-").replace(/,(?=\d{3})/g, "").match(/-?\d*\.?\d+/);
  return found ? Number(found[0]) : NaN;
};
const before = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.textContent.localeCompare(b.textContent);
  return y - x;
};
const sort = (table, head) => {
  const turned = head.getAttribute("aria-sort") === "descending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", turned ? "ascending" : "descending");
  const names = head.cellIndex === 0 && !table.querySelector("tbody [data-sort]:first-child");
  const order = (a, b) => names ? b.textContent.localeCompare(a.textContent) : before(a, b);
  const rows = [...table.tBodies[0].rows].sort((a, b) => (turned ? -1 : 1) * order(a.cells[head.cellIndex], b.cells[head.cellIndex]));
  table.tBodies[0].append(...rows);
};
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  }
});
