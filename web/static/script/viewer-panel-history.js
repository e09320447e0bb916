// @ts-check
// Changes of the form in the panel, which the user can undo and repeat.
import { applyType } from './instrument.js';
import { form, panel, say, state } from './viewer-panel-base.js';

// Changes of the form. base has the values that are stored, and values those after the last step. A step of
// the history is a list of fields, each with its value before and after.
let base = new Map();
let values = new Map();
/** @type {FieldChange[][]} */
export const past = [];
/** @type {FieldChange[][]} */
const future = [];
export const readValues = () =>
  new Map(
    /** @type {HTMLInputElement[]} */ ([...(form()?.elements ?? [])])
      .filter((el) => el.matches('input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea'))
      .map((el) => [el.name, el.value]),
  );
export const isChanged = () => state.rejected || [...readValues()].some(([name, value]) => base.get(name) !== value);
// record adds what changed to the history. Or it joins that with the last step, which changed the named field.
/** @param {string} [joined] */
export const record = (joined) => {
  const now = readValues();
  const step = [...now]
    .filter(([name, value]) => values.get(name) !== value)
    .map(([name, value]) => ({ name, from: values.get(name), to: value }));
  values = now;
  if (!step.length) return;
  future.length = 0;
  const last = past.at(-1);
  if (!joined || !last?.some((change) => change.name === joined)) {
    past.push(step);
    return;
  }
  for (const change of step) {
    const earlier = last.find(({ name }) => name === change.name);
    if (earlier) earlier.to = change.to;
    else last.push(change);
  }
};
// startHistory takes the values of a form that was just loaded.
/** @param {boolean} [keep] */
export const startHistory = (keep) => {
  base = readValues();
  values = new Map(base);
  if (!keep) past.length = future.length = 0;
};
/**
 * @param {FieldChange[][]} from
 * @param {FieldChange[][]} to
 * @param {'from' | 'to'} which
 * @param {'undo' | 'redo'} done
 */
const replay = (from, to, which, done) => {
  record();
  const step = from.pop();
  if (!step) {
    say(`Nothing to ${done}.`);
    return;
  }
  to.push(step);
  for (const change of step) form().elements[change.name].value = change[which];
  values = readValues();
  applyType(form(), false);
  panel.dispatchEvent(new Event('panel:replayed'));
  const input = form().elements[step[0].name];
  const group = input.closest('details');
  if (group) group.open = true;
  input.focus();
  say(
    `${done === 'undo' ? 'Undone' : 'Redone'}: ${step.map(({ name }) => labelOf(form().elements[name])).join(', ')}.`,
  );
};
/** @param {HTMLInputElement} input */
const labelOf = (input) => input.ariaLabel || input.labels[0]?.textContent || '';
export const undo = () => replay(past, future, 'from', 'undo');
export const redo = () => replay(future, past, 'to', 'redo');

// enter puts values into the fields of the form. They aren't a step that can be undone.
/** @param {string[][]} fields */
export const enter = (fields) => {
  for (const [name, value] of fields) {
    const input = form()?.elements[name];
    if (input) input.value = value;
  }
  values = readValues();
  applyType(form(), false);
};

// These listeners follow those that format a date or fill in what belongs to a document type.
let typedAt = -Infinity;
for (const type of /** @type {const} */ (['input', 'change'])) {
  document.addEventListener(type, (/** @type {On<InputEvent, HTMLInputElement>} */ event) => {
    if (!panel.contains(event.target) || !event.target.closest('[data-instrument-form]')) return;
    const fast = event.timeStamp - typedAt < 1000 && event.inputType !== 'insertFromPaste';
    typedAt = event.timeStamp;
    record(type === 'change' || fast ? event.target.name : undefined);
  });
}
// separate makes the next change a step of its own.
export const separate = () => {
  typedAt = -Infinity;
};
