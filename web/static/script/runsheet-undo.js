// @ts-check
// Changes of a runsheet that the user can undo and repeat.
import { storeAdded, storedAdded } from './added.js';
import * as sheet from './runsheet.js';
import { apply, discard, nameOf, showNote, shownText, unsaved } from './runsheet-cells.js';
import { enqueue, send, show } from './runsheet-requests.js';

// A step changes something back when it is run. Then it returns the step that repeats the change. If it
// failed, it returns the state of the response.
/** @type {Step[]} */
const past = [];
/** @type {Step[]} */
const future = [];
/** @type {() => void} */
let revert; // takes back the last change or undo
/** @param {Step} step */
export const remember = (step) => {
  past.push(step);
  future.length = 0;
  showSteps();
  revert = undo;
};
/** @type {Record<string, HTMLButtonElement>} */
const buttons = { undo: document.getElementById('runsheet-undo'), redo: document.getElementById('runsheet-redo') };
const showSteps = () => {
  if (buttons.undo) buttons.undo.disabled = !past.length;
  if (buttons.redo) buttons.redo.disabled = !future.length;
};
/**
 * @param {Step[]} from
 * @param {Step[]} to
 * @param {string} done
 */
const runStep = async (from, to, done) => {
  const step = from.pop();
  if (!step) {
    sheet.announce(`Nothing to ${done}.`);
    return;
  }
  const result = await step();
  if (typeof result === 'function') to.push(result);
  else if (result?.unsent) from.push(step);
  showSteps();
  revert = to === past ? undo : redo;
};
export const undo = () => enqueue(() => runStep(past, future, 'undo'));
export const redo = () => enqueue(() => runStep(future, past, 'redo'));

buttons.undo?.addEventListener('click', undo);
buttons.redo?.addEventListener('click', redo);

// addedStep undoes rows that were pasted or imported, and opens the runsheet again.
/** @type {(fields: string) => Step} */
const addedStep = (fields) => () => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = `${sheet.section.dataset.path}/instruments/undo`;
  for (const [name, value] of new URLSearchParams(fields)) {
    const input = document.createElement('input');
    Object.assign(input, { type: 'hidden', name, value });
    form.append(input);
  }
  storeAdded(sheet.section.dataset.path, '');
  document.body.append(form);
  form.submit();
  return null;
};
const added = storedAdded(sheet.section.dataset.path);
if (added) {
  past.push(addedStep(added));
  showSteps();
}

/**
 * @param {number} id
 * @param {number} at
 * @param {unknown} before
 * @param {string} was
 */
export const cellStep = (id, at, before, was) => async () => {
  const state = await send(`/instruments/${id}/cell`, {
    field: sheet.fields[at],
    restore: JSON.stringify(before),
    was,
  });
  const tr = sheet.rowOf(id);
  if (!tr) {
    show('problem', state.problem ?? 'The row is no longer in this runsheet.');
    return state;
  }
  const cell = tr.cells[at];
  apply(state, tr);
  sheet.select(cell);
  if (state.problem) {
    showNote(cell, 'problem', state.problem, { Close: () => discard(cell) });
    return state;
  }
  sheet.announce(`${nameOf(cell)} is now ${(shownText(cell) || 'blank').replace(/\.$/, '')}.`);
  return state.before ? cellStep(id, at, state.before, shownText(cell)) : null;
};
/** @param {number} id */
export const trashStep = (id) => async () => {
  const state = await send(`/instruments/${id}/trash`, {});
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  const tr = sheet.rowOf(id);
  const at = sheet.active?.cellIndex ?? 1;
  if (tr.contains(sheet.active) || tr.contains(document.activeElement))
    sheet.select((sheet.step(tr, 1) || sheet.step(tr, -1)).cells[at]);
  for (const cell of tr.cells) unsaved.delete(cell);
  tr.remove();
  apply(state);
  show('notice', state.notice, 'Undo', () => revert());
  return restoreStep(id);
};
/** @param {number} id */
const restoreStep = (id) => async () => {
  const state = await send(`/instruments/${id}/restore`, {});
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  apply(state);
  show('notice', state.notice);
  sheet.select(sheet.rowOf(id)?.cells[1]);
  return trashStep(id);
};
/**
 * @param {number} id
 * @param {number} position
 */
export const moveStep = (id, position) => async () => {
  const old = sheet.sequence().indexOf(String(id)) + 1;
  const state = await send(`/instruments/${id}/move`, { position });
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  apply(state);
  sheet.select(sheet.rowOf(id)?.cells[1]);
  sheet.announce(`Moved back to position ${position}.`);
  return moveStep(id, old);
};
// sequenceStep sets the sequence of the runsheet or, if ids is blank, sorts it by recording date.
/** @param {string} ids */
export const sequenceStep = (ids) => async () => {
  const was = sheet.sequence().join();
  const state = await send(`${sheet.section.dataset.path}/instruments/sort`, { sequence: ids, was });
  if (!state.problem || state.rows) apply(state);
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  show('notice', state.notice, 'Undo', () => revert());
  return sequenceStep(ids ? '' : was);
};
/** @param {SheetView} view */
export const viewStep = (view) => () => {
  const now = sheet.view();
  sheet.setView(view);
  return viewStep(now);
};
// perform runs a step that the user selected, and remembers the one that undoes it.
/** @param {Step} step */
export const perform = (step) =>
  enqueue(async () => {
    const opposite = await step();
    if (typeof opposite === 'function') remember(opposite);
  });
