// @ts-check
// Changes of a runsheet that the user can undo and repeat.
import * as sheet from './runsheet.js';
import { apply, discard, nameOf, showNote, shownText, unsaved } from './runsheet-cells.js';
import { enqueue, send, show } from './runsheet-requests.js';
import { deferUndo, nextUndo, pushUndo, undoLast } from './undo.js';

// A step changes something back when it is run. Then it returns the step that repeats the change. If it
// failed, it returns the state of the response.
/** @type {{ step: Step, what: string }[]} */
const future = [];
/** @type {() => void} */
let revert; // takes back the last change or undo
/** @type {Record<string, HTMLButtonElement>} */
const buttons = { undo: document.getElementById('runsheet-undo'), redo: document.getElementById('runsheet-redo') };
const showSteps = () => {
  if (buttons.undo) buttons.undo.disabled = !nextUndo();
  if (buttons.redo) buttons.redo.disabled = !future.length;
};
/**
 * @param {Step} step
 * @param {string} what
 * @param {SheetState['undo']} [form]
 */
const push = (step, what, form) =>
  pushUndo(what, form, async () => {
    const result = await step();
    if (typeof result === 'function') future.push({ step: result, what });
    else if (result?.unsent) push(step, what, form);
    showSteps();
    revert = redo;
  });
// remember adds a change that step undoes. form does so after the page was left.
/**
 * @param {Step} step
 * @param {string} what
 * @param {SheetState['undo']} [form]
 */
export const remember = (step, what, form) => {
  push(step, what, form);
  future.length = 0;
  showSteps();
  revert = undoSheet;
};
// formOf has the form that undoes what a step repeated.
/** @type {WeakMap<Step, SheetState['undo']>} */
const formOf = new WeakMap();
/**
 * @param {Step} step
 * @param {SheetState} state
 */
const withForm = (step, state) => {
  if (step && state.undo) formOf.set(step, state.undo);
  return step;
};
deferUndo((act) => enqueue(act));
const undoSheet = () => undoLast();
export const redo = () =>
  enqueue(async () => {
    const last = future.pop();
    if (!last) {
      sheet.announce('Nothing to redo.');
      return;
    }
    const result = await last.step();
    if (typeof result === 'function') push(result, last.what, formOf.get(result));
    else if (result?.unsent) future.push(last);
    showSteps();
    revert = undoSheet;
  });

buttons.undo?.addEventListener('click', undoSheet);
buttons.redo?.addEventListener('click', redo);
document.addEventListener('deedkeep:undoable', showSteps);
showSteps();

// A request identifies the change to undo or redo by its undo token.
/** @param {SheetState['undo']} [undo] */
const changeOf = (undo) => (undo ? { change: undo.token } : {});
/** @type {(id: number, at: number, undo: SheetState['undo'], was: string) => Step} */
export const cellStep = (id, at, undo, was) => async () => {
  const state = await send(`/instruments/${id}/cell`, { field: sheet.fields[at], was, ...changeOf(undo) });
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
  return state.undo ? withForm(cellStep(id, at, state.undo, shownText(cell)), state) : null;
};
/** @type {(id: number, undo?: SheetState['undo']) => Step} */
export const trashStep = (id, undo) => async () => {
  const state = await send(`/instruments/${id}/trash`, changeOf(undo));
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
  return withForm(restoreStep(id, state.undo), state);
};
/** @type {(id: number, undo?: SheetState['undo']) => Step} */
const restoreStep = (id, undo) => async () => {
  const state = await send(`/instruments/${id}/restore`, changeOf(undo));
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  apply(state);
  show('notice', state.notice);
  sheet.select(sheet.rowOf(id)?.cells[1]);
  return withForm(trashStep(id, state.undo), state);
};
/** @type {(id: number, position: number, undo?: SheetState['undo']) => Step} */
export const moveStep = (id, position, undo) => async () => {
  const old = sheet.sequence().indexOf(String(id)) + 1;
  const state = await send(`/instruments/${id}/move`, { position, ...changeOf(undo) });
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  apply(state);
  sheet.select(sheet.rowOf(id)?.cells[1]);
  sheet.announce(`Moved back to position ${position}.`);
  return withForm(moveStep(id, old, state.undo), state);
};
// sequenceStep sets the sequence of the runsheet or, if ids is blank, sorts it by recording date.
/** @type {(ids: string, undo?: SheetState['undo']) => Step} */
export const sequenceStep = (ids, undo) => async () => {
  const was = sheet.sequence().join();
  const state = await send(`${sheet.section.dataset.path}/instruments/sort`, { sequence: ids, was, ...changeOf(undo) });
  if (!state.problem || state.rows) apply(state);
  if (state.problem) {
    show('problem', state.problem);
    return state;
  }
  show('notice', state.notice, 'Undo', () => revert());
  return withForm(sequenceStep(ids ? '' : was, state.undo), state);
};
/** @type {(view: SheetView) => Step} */
export const viewStep = (view) => () => {
  const now = sheet.view();
  sheet.setView(view);
  return viewStep(now);
};
// perform runs a step that the user selected, and remembers the one that undoes it.
/**
 * @param {Step} step
 * @param {string} what
 */
export const perform = (step, what) =>
  enqueue(async () => {
    const opposite = await step();
    if (typeof opposite === 'function') remember(opposite, what, formOf.get(opposite));
  });
