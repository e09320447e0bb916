// @ts-check
// The cells of a runsheet that is edited: rows from the server, notes below cells, and the open editor.
import * as sheet from './runsheet.js';
import { clearMessages } from './runsheet-requests.js';

/** @param {Row} tr */
export const isSaved = (tr) => /^\d+$/.test(tr.dataset.id);
/** @param {Cell} cell */
export const nameOf = (cell) => {
  const number = cell.parentElement.querySelector('.number')?.textContent;
  return `${number ? `Row ${number}` : 'New row'}, ${sheet.headers[cell.cellIndex].textContent}`;
};

// A note below the row of a cell says why the cell isn't saved, and offers what to do.
/** @type {Map<Cell, Row>} */
export const notes = new Map(); // rows with notes, by cell
const placeNotes = () => {
  for (const [cell, tr] of notes) {
    const row = cell.parentElement;
    if (!cell.isConnected) {
      removeNote(cell);
      continue;
    }
    if (row.nextElementSibling !== tr) row.after(tr);
    tr.hidden = row.hidden;
    const box = tr.querySelector('div');
    box.style.marginInlineStart = `${Math.max(Math.min(cell.offsetLeft, sheet.table.offsetWidth - box.offsetWidth - 16), 0)}px`;
  }
};
/** @param {Cell} cell */
const removeNote = (cell) => {
  notes.get(cell)?.remove();
  notes.delete(cell);
};
/**
 * @param {Cell} cell
 * @param {string} kind
 * @param {string} text
 * @param {Record<string, () => void>} choices
 */
export const showNote = (cell, kind, text, choices) => {
  removeNote(cell);
  const tr = document.createElement('tr');
  tr.className = 'cell-note';
  const holder = tr.insertCell();
  holder.colSpan = sheet.headers.length;
  const box = document.createElement('div');
  box.className = kind;
  box.setAttribute('role', 'alert');
  box.id = `note-${cell.parentElement.dataset.id}-${cell.cellIndex}`;
  const line = document.createElement('span');
  line.textContent = `${nameOf(cell)}: ${text}`;
  box.append(line);
  for (const [label, act] of Object.entries(choices)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', act);
    box.append(button);
  }
  tr.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    discard(cell);
  });
  holder.append(box);
  notes.set(cell, tr);
  placeNotes();
  box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
};
sheet.section.addEventListener('runsheet:arranged', placeNotes);
window.addEventListener('resize', placeNotes);

/** @param {string} html */
export const parseRow = (html) => {
  const holder = document.createElement('template');
  holder.innerHTML = html;
  return holder.content.querySelector('tr');
};
/** @param {Cell} cell */
export const shownText = (cell) => cell.dataset.edit ?? cell.textContent.trim();

/** @type {CellEditor} */
export let editor = null; // the open editor: {cell, input, was, content}
/** @type {Map<Cell, CellEntry>} */
export const unsaved = new Map(); // cells that are not saved yet: {value, was, content}

/**
 * @param {Row} tr
 * @param {Row} fresh
 */
const updateRow = (tr, fresh) => {
  tr.id = fresh.id;
  for (const name of ['id', 'category', 'status']) tr.dataset[name] = fresh.dataset[name];
  [...fresh.cells].forEach((cell, n) => {
    const old = tr.cells[n];
    const holders = [unsaved.get(old), editor?.cell === old && editor].filter(Boolean);
    if (holders.length) {
      for (const holder of holders) holder.content = [...cell.childNodes];
      if ('label' in cell.dataset) old.dataset.label = cell.dataset.label;
      if ('edit' in cell.dataset) old.dataset.edit = cell.dataset.edit;
      if ('party' in cell.dataset) old.dataset.party = cell.dataset.party;
      else delete old.dataset.party;
      return;
    }
    for (const name of ['data-label', 'data-party', 'data-edit', 'data-amount', 'class', 'title']) {
      if (cell.hasAttribute(name)) old.setAttribute(name, cell.getAttribute(name));
      else old.removeAttribute(name);
    }
    old.replaceChildren(...cell.childNodes);
  });
  sheet.prepare(tr);
};
/** @returns {Row} */
export const newRow = () => document.getElementById('instrument-new');
/**
 * @param {SheetState} state
 * @param {Row} [tr]
 */
export const apply = (state, tr) => {
  for (const row of state.rows ?? []) {
    const fresh = parseRow(row.html);
    /** @type {Row} */
    const current = row.id === state.id && tr ? tr : document.getElementById(fresh.id);
    if (current) {
      updateRow(current, fresh);
    } else {
      sheet.prepare(fresh);
      newRow().before(fresh);
    }
  }
  if (state.sequence) document.getElementById('runsheet-sort')?.toggleAttribute('hidden', !state.chosen);
  if (state.sequence) {
    sheet.update(state.sequence, state.gaps, tr);
    document.body.dispatchEvent(new Event('runsheet:changed')); // for suggestions that the change makes obsolete
  }
  placeNotes();
};

/** @param {CellEditor} next */
export const setEditor = (next) => {
  editor = next;
};
// close replaces the editor of a cell with its content.
/** @param {...(string | Node)} content */
export const close = (...content) => {
  const { cell } = editor;
  editor = null;
  cell.replaceChildren(...content);
  sheet.prepare(cell);
};
/** @param {Cell} cell */
export const forget = (cell) => {
  if (unsaved.delete(cell) && !unsaved.size) clearMessages();
  cell.classList.remove('unsaved');
  cell.removeAttribute('aria-invalid');
  removeNote(cell);
};
export const cancel = () => {
  const { cell, content } = editor;
  forget(cell);
  close(...content);
};
// discard restores a cell that isn't saved. A new row without another cell is removed.
/** @param {Cell} cell */
export const discard = (cell) => {
  const entry = unsaved.get(cell),
    tr = cell.parentElement;
  if (editor?.cell === cell) {
    cancel();
  } else {
    forget(cell);
    if (entry) cell.replaceChildren(...entry.content);
  }
  const isBlank = !isSaved(tr) && tr !== newRow() && ![...tr.cells].some((other) => unsaved.has(other));
  sheet.select(isBlank ? newRow().cells[cell.cellIndex] : cell);
  if (isBlank) tr.remove();
};
