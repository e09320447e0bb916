// @ts-check
// The widths of the columns of a list: the edge of a heading is dragged. The menu of columns has the same widths as
// numbers. Once one column has a width, all have those that they have on the screen, so that nothing else moves.

const minWidth = 40;
const maxWidth = 2000;

/** @param {HTMLTableElement} table */
const heads = (table) => [...table.tHead.rows[0].cells];
/** @param {HTMLTableCellElement} head */
const columnOf = (head) => head.closest('table').querySelectorAll('col')[head.cellIndex];
/** @param {HTMLTableCellElement} head */
const nameOf = (head) => head.querySelector('[data-edge]').dataset.edge;
/** @param {Element} head */
const widthOf = (head) => head.getBoundingClientRect().width;

/** @param {HTMLTableCellElement} head @param {number} width */
const setWidth = (head, width) => {
  const value = String(Math.min(Math.max(Math.round(width), minWidth), maxWidth));
  columnOf(head).setAttribute('width', value);
  /** @type {HTMLInputElement} */
  const field = document.querySelector(`#columns input[name="${CSS.escape(`width.${nameOf(head)}`)}"]`);
  if (field) field.value = value;
};

// freeze gives each column the width that it has on the screen.
/** @param {HTMLTableElement} table */
const freeze = (table) => {
  const shown = heads(table).filter((head) => widthOf(head) > 0);
  const widths = shown.map(widthOf);
  for (const [n, head] of shown.entries()) setWidth(head, widths[n]);
  table.classList.add('sized');
};

/** @param {HTMLTableElement} table */
const save = async (table) => {
  const form = new URLSearchParams({ record: table.dataset.list });
  for (const head of heads(table)) {
    const width = columnOf(head).getAttribute('width');
    if (width) form.append(`width.${nameOf(head)}`, width);
  }
  // If they can't be stored, the page keeps the widths until it is left.
  await fetch('/columns/widths', {
    method: 'POST',
    body: form,
    headers: { 'HX-Request': 'true' },
    keepalive: true,
  }).catch(() => {});
};

/** @type {{ head: HTMLTableCellElement, x: number, width: number, moved: boolean } | null} */
let drag = null;
document.addEventListener('pointerdown', (event) => {
  const edge = event.target instanceof Element ? event.target.closest('[data-edge]') : null;
  if (!edge || event.button !== 0) return;
  event.preventDefault();
  edge.setPointerCapture(event.pointerId);
  const head = edge.closest('th');
  drag = { head, x: event.clientX, width: widthOf(head), moved: false };
});
document.addEventListener('pointermove', (event) => {
  if (!drag) return;
  if (!drag.moved) freeze(drag.head.closest('table'));
  drag.moved = true;
  setWidth(drag.head, drag.width + event.clientX - drag.x);
});
const endDrag = () => {
  if (drag?.moved) save(drag.head.closest('table'));
  drag = null;
};
document.addEventListener('pointerup', endDrag);
document.addEventListener('pointercancel', endDrag);
