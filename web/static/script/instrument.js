// @ts-check
// The form of an instrument, on a page of its own and in the panel beside a document: dates that are
// typed in digits, and what depends on the document type.
import { announce } from './page.js';

// parseDate returns a date typed in digits as month/day/year. It returns the text if it is not such
// a date. A two-digit year means the latest such day that isn't in the future, or, if future is
// set, that is at most 60 years away (app/model/field_text.go).
/**
 * @param {string} text
 * @param {boolean} future
 */
const parseDate = (text, future) => {
  const match = text.trim().match(/^(?:(\d{1,2})[/.-](\d{1,2})[/.-]|(\d\d)(\d\d))(\d{4}|\d\d)$/);
  if (!match) return text;
  const month = Number(match[1] || match[3]),
    day = Number(match[2] || match[4]);
  let year = Number(match[5]);
  const latest = new Date();
  if (future) latest.setFullYear(latest.getFullYear() + 60);
  else latest.setDate(latest.getDate() + 1);
  if (match[5].length === 2) {
    year += Math.floor(latest.getFullYear() / 100) * 100;
    if (new Date(year, month - 1, day) > latest) year -= 100;
  }
  const date = new Date(year, month - 1, day);
  if (date.getMonth() !== month - 1 || date.getDate() !== day || date.getFullYear() !== year) return text;
  return `${month}/${day}/${year}`;
};
/** @param {HTMLInputElement | HTMLTextAreaElement} input */
export const formatDate = (input) => {
  if (input?.dataset?.date) input.value = parseDate(input.value, input.dataset.date === 'future');
};

// applyType adapts a form to the selected type: the labels of the parties, of the recording date, and of the amount, and, if
// the user has just selected it, the usual book type and relation.
const suggestedBooks = new WeakMap(); // book type that was filled in for the selected type, by form
/**
 * @param {HTMLFormElement} form
 * @param {boolean} chosen
 */
export const applyType = (form, chosen) => {
  /** @param {string} name */
  const field = (name) => form?.elements[form.dataset.prefix + name];
  const type = field('type_id')?.selectedOptions[0];
  if (!type) return;
  /**
   * @param {string} name
   * @param {string} text
   */
  const label = (name, text) => {
    const input = field(name);
    if (input) input.labels[0].textContent = text;
  };
  label('grantors', type.dataset.grantor || 'Grantor');
  label('grantees', type.dataset.grantee || 'Grantee');
  label('recorded', type.dataset.recorded || 'Recorded');
  label('consideration', type.dataset.amount || 'Consideration');
  if (!chosen) return;
  const book = field('book_type');
  if (book && (!book.value || book.value === suggestedBooks.get(form))) {
    book.value = type.dataset.book || '';
    suggestedBooks.set(form, book.value);
  }
  const kind = form.querySelector('select[data-relation-kind]');
  const isRelated = [...form.querySelectorAll('.instrument-row select.grow')].some(
    (target) => target.name.endsWith('.instrument_id') && target.value,
  );
  if (kind && !isRelated) kind.value = type.dataset.relation || '';
  const links = form.querySelector('details[data-links]');
  if (links && type.dataset.relation) links.open = true;
};

document.addEventListener('change', (event) => {
  const form = event.target.closest('form[data-instrument-form]');
  if (!form) return;
  formatDate(event.target);
  if (event.target.matches('[data-type]')) applyType(form, true);
});

// The first letters of an option select it. If more is typed or pasted and fits none, the first letters don't
// change the selection either.
/** @type {HTMLSelectElement} */
let list = null;
let typed = '';
let before = -1;
let typedAt = 0;
/** @param {number} n */
const select = (n) => {
  if (list.selectedIndex === n) return;
  list.selectedIndex = n;
  for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, { bubbles: true }));
};
const reject = () => {
  select(before);
  announce(`No option matches “${typed}”. The selection is unchanged.`);
};
/**
 * @param {HTMLOptionElement} option
 * @param {string} text
 */
const startsWith = (option, text) => option.label.toLowerCase().startsWith(text.toLowerCase());
document.addEventListener('keydown', (/** @type {On<KeyboardEvent, HTMLSelectElement>} */ event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.key?.length !== 1) return;
  if (!event.target.matches('[data-instrument-form] select')) return;
  if (list !== event.target || event.timeStamp - typedAt > 1000)
    [list, typed, before] = [event.target, '', event.target.selectedIndex];
  if (event.key === ' ' && !typed) return; // opens the list
  typedAt = event.timeStamp;
  typed += event.key;
  const repeated = [...typed.toLowerCase()].every((letter) => letter === typed[0].toLowerCase());
  if (repeated || [...list.options].some((option) => startsWith(option, typed))) return;
  event.preventDefault();
  reject();
});
document.addEventListener('paste', (/** @type {On<ClipboardEvent, HTMLSelectElement>} */ event) => {
  if (!event.target.matches?.('[data-instrument-form] select')) return;
  event.preventDefault();
  [list, typed, before] = [event.target, event.clipboardData.getData('text/plain').trim(), event.target.selectedIndex];
  const n = [...list.options].findIndex((option) => typed && option.label.toLowerCase() === typed.toLowerCase());
  if (n < 0) reject();
  else select(n);
});
