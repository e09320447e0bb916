// @ts-check
// The editor of a runsheet's cell, and saving what was typed.
import * as sheet from './runsheet.js';
import {
  apply,
  cancel,
  close,
  discard,
  editor,
  forget,
  isSaved,
  nameOf,
  newRow,
  notes,
  parseRow,
  setEditor,
  showNote,
  shownText,
  unsaved,
} from './runsheet-cells.js';
import { clearMessages, enqueue, send } from './runsheet-requests.js';
import { cellStep, remember, trashStep } from './runsheet-undo.js';

/** @param {Cell} cell */
export const canEdit = (cell) =>
  cell &&
  sheet.isRow(cell.parentElement) &&
  cell.cellIndex < sheet.columnCount &&
  !['number', 'documents'].includes(sheet.fields[cell.cellIndex]);

/** @type {Record<string, string>} */
const lists = { type: 'runsheet-types', status: 'runsheet-statuses' };
/** @param {string} field */
const control = (field) => {
  const input = document.createElement(field === 'remarks' ? 'textarea' : 'input');
  input.autocomplete = 'off';
  input.spellcheck = field === 'remarks';
  if (lists[field]) input.setAttribute('list', lists[field]);
  if (field === 'status') input.placeholder = 'Automatic';
  return input;
};
export let entering = false; // Tab goes from cell to cell once the user has edited one
document.addEventListener('focusin', (event) => {
  if (!sheet.table.contains(event.target)) entering = false;
});
/**
 * @param {Cell} cell
 * @param {string} [typed]
 */
export const open = (cell, typed) => {
  if (!canEdit(cell)) return;
  sheet.select(cell);
  const failed = unsaved.get(cell);
  const input = control(sheet.fields[cell.cellIndex]);
  input.setAttribute('aria-label', nameOf(cell));
  input.value = typed ?? failed?.value ?? shownText(cell);
  if (notes.has(cell)) input.setAttribute('aria-describedby', notes.get(cell).querySelector('[role]').id);
  const { was, content, conflict } = failed ?? { was: shownText(cell), content: [...cell.childNodes] };
  setEditor({ cell, input, was, content, conflict });
  cell.replaceChildren(input);
  cell.removeAttribute('aria-invalid');
  input.focus();
  // The caret is at the end, so that one key never replaces what the cell has.
  input.setSelectionRange(input.value.length, input.value.length);
  entering = true;
  input.addEventListener('blur', () => {
    if (editor?.input === input && document.hasFocus()) leave();
  });
};
export const commit = () => {
  const { cell, input, was, content } = editor;
  const value = input.value.trim();
  if (value === was) {
    cancel();
    return;
  }
  const entry = { value, was, content };
  close(value);
  unsaved.set(cell, entry);
  cell.classList.add('unsaved');
  save(cell, entry);
};
// leave closes the editor as the user goes elsewhere. It saves the cell unless that replaces the entry of
// another person.
export const leave = () => {
  const { cell, input, was, content, conflict } = editor;
  const value = input.value.trim();
  if (!conflict || value === was) {
    commit();
    return;
  }
  close(value);
  unsaved.set(cell, { value, was, content, conflict });
  cell.setAttribute('aria-invalid', 'true');
};
// startRow makes the blank row at the end a row of its own and adds another blank one.
/** @param {Row} tr */
const startRow = (tr) => {
  const blank = /** @type {Row} */ (tr.cloneNode(true));
  for (const cell of [...blank.cells].slice(1)) {
    cell.replaceChildren();
    cell.removeAttribute('tabindex');
    cell.classList.remove('unsaved');
  }
  tr.removeAttribute('id');
  tr.className = '';
  tr.dataset.id = 'pending';
  tr.after(blank);
  document.getElementById('runsheet-empty')?.remove();
};
/**
 * @param {Cell} cell
 * @param {CellEntry} entry
 */
const save = (cell, entry) => {
  const tr = cell.parentElement;
  if (tr === newRow()) startRow(tr);
  enqueue(async () => {
    if (unsaved.get(cell) !== entry) return; // the user changed the cell again
    const added = !isSaved(tr);
    const address = added ? `${sheet.section.dataset.path}/instruments/row` : `/instruments/${tr.dataset.id}/cell`;
    /** @type {Record<string, string>} */
    const values = { field: sheet.fields[cell.cellIndex], value: entry.value, was: entry.was };
    if (entry.keep) values.keep = entry.value;
    if (entry.both) values.both = entry.value;
    const state = await send(address, values);
    const fresh = /** @type {{ id: number, html: string }[]} */ (state.rows ?? [])
      .filter((row) => row.id === state.id)
      .map((row) => parseRow(row.html))[0]?.cells[cell.cellIndex];
    const later = unsaved.get(cell);
    // What the user typed before a conflict is shown isn't based on the other person's entry.
    const isBased = fresh && (later === entry || !state.conflict);
    if (later && isBased) later.was = shownText(fresh);
    if (editor?.cell === cell && isBased) Object.assign(editor, { was: shownText(fresh), conflict: state.conflict });
    if (state.problem || state.question) {
      apply(state, tr);
      if (later === entry) fail(cell, entry, state);
      return;
    }
    if (later === entry) forget(cell);
    apply(state, tr);
    if (added) remember(trashStep(state.id, state.undo), 'Row added', state.undo);
    else if (state.undo)
      remember(cellStep(state.id, cell.cellIndex, state.undo, shownText(fresh)), `${nameOf(cell)} changed`, state.undo);
    if (!unsaved.size) clearMessages();
  });
};
// fail marks a cell that was not saved. It moves the focus only if the user is still at the cell.
/**
 * @param {Cell} cell
 * @param {CellEntry} entry
 * @param {SheetState} state
 */
const fail = (cell, entry, { problem, question, duplicate, position, conflict }) => {
  entry.conflict = conflict;
  cell.classList.remove('unsaved');
  cell.setAttribute('aria-invalid', 'true');
  const keep = () => {
    const now = unsaved.get(cell);
    sheet.select(cell);
    if (now?.value !== entry.value) return;
    now[duplicate ? 'both' : 'keep'] = true;
    save(cell, now);
  };
  const change = { Change: () => open(cell) };
  /** @type {Record<string, () => void>} */
  let choices = { ...change, Discard: () => discard(cell) };
  if (duplicate)
    choices = {
      'Keep both': keep,
      [`Open No. ${position}`]: () => sheet.select(sheet.rowOf(duplicate)?.cells[1]),
      ...change,
    };
  else if (question) choices = { Keep: keep, ...change };
  showNote(cell, question ? 'warning' : 'problem', question ?? problem, choices);
  if (editor || document.activeElement !== cell) return;
  if (question) notes.get(cell).querySelector('button:last-child').focus();
  else if (conflict) notes.get(cell).querySelector('button').focus();
  else open(cell);
};
