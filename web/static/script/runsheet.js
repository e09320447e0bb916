// @ts-check
// The runsheet of an abstract: a cursor that the arrow keys move, sorting, and filters. They change
// only what is shown. runsheet-edit.js lets users edit the runsheet.

export const section = document.getElementById('runsheet');
export const table = section.querySelector('table.runsheet');
export const body = table.tBodies[0];
const editable = section.hasAttribute('data-editable');
export const headers = [...table.tHead.rows[0].cells];
export const fields = headers.map((th) => th.dataset.field);
export const columnCount = fields.filter(Boolean).length; // the tools at the end don't count

/** @param {Row} tr */
export const isRow = (tr) => Boolean(tr?.dataset.id); // false for gaps
/** @param {Row} tr */
const position = (tr) => Number(tr.querySelector('.number')?.textContent) || Infinity;
export const rows = () => [...body.rows].filter((tr) => isRow(tr) && tr.dataset.id !== 'new');
// sequence returns the IDs of the instruments in the sequence of the runsheet, however they are sorted.
export const sequence = () =>
  rows()
    .filter((tr) => position(tr) < Infinity)
    .sort((a, b) => position(a) - position(b))
    .map((tr) => tr.dataset.id);
/**
 * @param {number | string} id
 * @returns {Row}
 */
export const rowOf = (id) => document.getElementById(`instrument-${id}`);
/** @param {string} text */
export const announce = (text) => {
  document.getElementById('runsheet-said').textContent = text;
};

// Links in the table are reached with the cursor, so that Tab doesn't stop at each of them.
table.setAttribute('role', 'grid');
/** @param {HTMLElement} root */
export const prepare = (root) => {
  for (const el of root.querySelectorAll('a, button')) el.tabIndex = -1;
};
prepare(body);

// ---- cursor

/** @type {Cell} */
export let active = null;
/** @type {() => void} */
let pending = null; // a change of the sequence that waits until the cursor leaves its row
/** @param {Cell} cell */
export const select = (cell, focus = true) => {
  if (!cell) return;
  const leaves = active && active.parentElement !== cell.parentElement;
  if (active && active !== cell) active.removeAttribute('tabindex');
  active = cell;
  if (leaves && pending) {
    const apply = pending;
    pending = null;
    apply();
  }
  cell.tabIndex = 0;
  if (!focus) return;
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
};
// step returns the next visible row in a direction, or null.
/**
 * @param {Row} tr
 * @param {number} by
 */
export const step = (tr, by) => {
  do tr = by > 0 ? tr.nextElementSibling : tr.previousElementSibling;
  while (tr && (!isRow(tr) || tr.hidden));
  return tr;
};
/**
 * @param {number} down
 * @param {number} across
 */
const move = (down, across) => {
  let tr = active.parentElement;
  for (let n = Math.abs(down); n > 0; n--) tr = step(tr, down) || tr;
  select(tr.cells[Math.min(Math.max(active.cellIndex + across, 0), columnCount - 1)]);
};
/**
 * @param {Row} tr
 * @param {number} by
 */
const edge = (tr, by) => {
  for (let next = step(tr, by); next; next = step(next, by)) tr = next;
  return tr;
};
/** @type {Record<string, () => void>} */
const keys = {
  ArrowUp: () => move(-1, 0),
  ArrowDown: () => move(1, 0),
  ArrowLeft: () => move(0, -1),
  ArrowRight: () => move(0, 1),
  PageUp: () => move(-10, 0),
  PageDown: () => move(10, 0),
  Home: () => move(0, -columnCount),
  End: () => move(0, columnCount),
  Escape: () => {
    const tab = document.getElementById('view-runsheet'); // which only the page of the abstract has
    if (tab) tab.focus();
    else active.blur();
  },
  'Ctrl Home': () => select(edge(active.parentElement, -1).cells[active.cellIndex]),
  'Ctrl End': () => select(edge(active.parentElement, 1).cells[active.cellIndex]),
};
table.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.target !== active || event.altKey || event.shiftKey) return;
  const act = keys[(event.ctrlKey || event.metaKey ? 'Ctrl ' : '') + event.key];
  const link =
    event.key === 'Enter' && (!editable || fields[active.cellIndex] === 'documents') && active.querySelector('a');
  if (!act && !link) return;
  event.preventDefault();
  if (link) link.click();
  else act();
});
table.addEventListener('click', (event) => {
  /** @type {Cell} */
  const cell = event.target.closest('tbody :is(td, th)');
  if (!cell || !isRow(cell.parentElement) || cell.cellIndex >= columnCount) return;
  if (event.target.closest('a, button, input, select, textarea') || String(window.getSelection())) return;
  select(cell);
});

// ---- sorting and filters

/** @type {SheetView['sort']} */
let sort = null;
/** @type {{ above: number, text: string }[]} */
let gaps = [];
for (const tr of body.querySelectorAll('tr.gap')) {
  let above = tr;
  while (above && !isRow(above)) above = above.nextElementSibling;
  gaps.push({ above: Number(above?.dataset.id), text: tr.textContent });
}
/** @type {HTMLSelectElement} */
const category = document.getElementById('runsheet-category');
/** @type {HTMLInputElement} */
const openFirst = document.getElementById('runsheet-open');
const resetButton = document.getElementById('runsheet-reset');
export const isPlain = () => !sort && !openFirst?.checked && !category?.value;

const collator = new Intl.Collator('en-US', { numeric: true, sensitivity: 'base' });
// sortValue returns a number or a text, or null for a blank cell.
/**
 * @param {Row} tr
 * @param {number} at
 */
const sortValue = (tr, at) => {
  const text = tr.cells[at].textContent.trim();
  const date = /^(\d+)\/(\d+)\/(\d+)/.exec(text);
  switch (fields[at]) {
    case 'number':
      return position(tr);
    case 'dated':
    case 'recorded':
      return date ? Number(date[3]) * 10000 + Number(date[1]) * 100 + Number(date[2]) : null;
    case 'consideration':
      return tr.cells[at].dataset.amount ? Number(tr.cells[at].dataset.amount) : null;
    default:
      return text || null;
  }
};
/**
 * @param {number | string | null} a
 * @param {number | string | null} b
 * @param {boolean} down
 */
const compare = (a, b, down) => {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
  return down ? -order : order;
};
/** @param {Row[]} list */
const arrange = (list) => {
  if (rows().every((tr, n) => tr === list[n])) return;
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  body.prepend(...list);
  if (body.contains(focused)) focused.focus({ preventScroll: true });
};
// placeGaps shows each gap above its instrument, in every sequence, and returns how many are hidden with theirs.
const placeGaps = () => {
  for (const tr of [...body.querySelectorAll('tr.gap')]) tr.remove();
  let hidden = 0;
  for (const gap of gaps) {
    const row = rowOf(gap.above);
    if (row?.hidden) hidden++;
    if (!row || row.hidden) continue;
    const tr = document.createElement('tr');
    tr.className = 'gap';
    const cell = tr.insertCell();
    cell.colSpan = headers.length;
    cell.textContent = gap.text;
    row.before(tr);
  }
  return hidden;
};
const applyView = () => {
  const list = rows().sort((a, b) => position(a) - position(b));
  if (sort) {
    const values = new Map(list.map((tr) => [tr, sortValue(tr, sort.at)]));
    list.sort((a, b) => compare(values.get(a), values.get(b), sort.down));
  }
  if (openFirst?.checked)
    list.sort((a, b) => Number(b.dataset.status === 'open') - Number(a.dataset.status === 'open'));
  const wanted = category?.value;
  for (const tr of list) tr.hidden = Boolean(wanted) && tr.dataset.category !== wanted;
  arrange(list);
  section.toggleAttribute('data-sorted', !isPlain());
  const hiddenGaps = placeGaps();
  if (resetButton) resetButton.hidden = isPlain();
  const shown = list.filter((tr) => !tr.hidden).length;
  const line = document.getElementById('runsheet-shown');
  if (line) line.textContent = wanted ? `${shown} of ${list.length} shown` : '';
  if (hiddenGaps) line.textContent += `, ${hiddenGaps} ${hiddenGaps > 1 ? 'gaps' : 'gap'} hidden`;
  headers.forEach((th, n) => {
    if (sort?.at === n) th.setAttribute('aria-sort', sort.down ? 'descending' : 'ascending');
    else th.removeAttribute('aria-sort');
  });
  section.dispatchEvent(new CustomEvent('runsheet:arranged'));
  if (active?.parentElement.hidden) select(edge(active.parentElement, 1).cells[active.cellIndex], false);
};
// A view is how the rows are sorted and filtered. Its changes can be undone like those of cells.
export const view = () => ({ sort, open: Boolean(openFirst?.checked), category: category?.value ?? '' });
let shownView = view();
/** @param {SheetView} next */
export const setView = (next) => {
  sort = next.sort;
  if (category) {
    openFirst.checked = next.open;
    category.value = next.category;
  }
  applyView();
  shownView = view();
  announce(
    sort
      ? `Sorted by ${headers[sort.at].textContent}, ${sort.down ? 'descending' : 'ascending'}.`
      : isPlain()
        ? 'In the runsheet sequence.'
        : 'Filtered.',
  );
};
/** @param {Partial<SheetView>} change */
const changeView = (change) => {
  const before = shownView;
  setView({ ...view(), ...change });
  section.dispatchEvent(new CustomEvent('runsheet:viewed', { detail: before }));
};
if (category) {
  headers.slice(0, columnCount).forEach((th, at) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = th.textContent;
    button.title = `Sort by ${th.textContent}`;
    button.addEventListener('click', () => {
      changeView({ sort: sort?.at === at && sort.down ? null : { at, down: sort?.at === at } });
    });
    th.replaceChildren(button);
  });
  category.addEventListener('change', () => changeView({}));
  openFirst.addEventListener('change', () => changeView({}));
  resetButton.addEventListener('click', () => {
    changeView({ sort: null, open: false, category: '' });
    category.focus();
  });
}

// ---- changes of the sequence

// renumber sets the numbers of the rows and those in links to them.
/** @param {(number | string)[]} ids */
export const renumber = (ids) => {
  const numbers = new Map(ids.map((id, n) => [String(id), String(n + 1)]));
  for (const tr of rows()) {
    const number = tr.querySelector('.number');
    const now = numbers.get(tr.dataset.id);
    if (number && now && number.textContent !== now) number.textContent = now;
  }
  for (const span of body.querySelectorAll('[data-number]')) {
    const now = numbers.get(span.closest('a').hash.replace('#instrument-', ''));
    if (now && span.textContent !== now) span.textContent = now;
  }
  const tally = document.getElementById('runsheet-tally');
  if (tally) tally.textContent = ids.length.toLocaleString('en-US');
};
/**
 * @param {number[]} ids
 * @param {Gap[]} found
 */
const setSequence = (ids, found) => {
  gaps = found.map((gap) => ({
    above: gap.above,
    text: `Possible gap in the chain of title: no earlier instrument in this runsheet names ${gap.name} as grantee`,
  }));
  const known = new Set(ids.map(String));
  for (const tr of rows()) {
    if (/^\d+$/.test(tr.dataset.id) && !known.has(tr.dataset.id) && !tr.contains(active)) tr.remove();
  }
  renumber(ids);
  applyView();
};
// update applies the sequence after a change of a row. If the row moves, the cursor moves with it. If the
// user is typing in it or the table is sorted, it moves when the cursor leaves it.
/**
 * @param {number[]} ids
 * @param {Gap[]} found
 * @param {Row} [tr]
 */
export const update = (ids, found, tr) => {
  const stays = isPlain() && rows().every((row, n) => row.dataset.id === String(ids[n]));
  const inRow = active?.parentElement === tr;
  if (stays || !tr || !inRow || (isPlain() && !tr.querySelector('input, textarea'))) {
    pending = null;
    setSequence(ids, found);
    if (stays || !tr || !inRow) return;
    if (document.activeElement === active) select(active);
    announce(`Moved to position ${ids.indexOf(Number(tr.dataset.id)) + 1} of ${ids.length}.`);
  } else {
    renumber(ids);
    pending = () => setSequence(ids, found);
  }
};

select([...body.rows].find(isRow)?.cells[1], false);
// The browser moves the focus away from the row of an anchor after it has loaded the page.
const followAnchor = () => {
  const tr = /^#instrument-\d+$/.test(location.hash) && rowOf(location.hash.replace('#instrument-', ''));
  if (tr) select(tr.cells[1]);
};
window.addEventListener('hashchange', followAnchor);
window.addEventListener('load', () => setTimeout(followAnchor));
