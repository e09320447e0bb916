// @ts-check
// Suggestions from the text of the document, in the panel.
import { addressOf, form, panel, query, say, state } from './viewer-panel-base.js';
import { past, record, separate } from './viewer-panel-history.js';

/** @param {HTMLElement} button */
export const accept = (button) => {
  /** @type {HTMLInputElement} */
  const input = document.getElementById(button.dataset.accept);
  if (!input) return;
  record();
  input.value = button.dataset.value;
  separate(); // a step of its own
  for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
  separate();
  const group = input.closest('details');
  if (group) group.open = true;
  button.closest('li').hidden = true;
  hideAccepted(false);
};
// hideAccepted hides the list of suggestions if none is left. With all, it shows those again that the form
// doesn't have.
/** @param {boolean} all */
export const hideAccepted = (all) => {
  const box = query('.panel-suggested');
  if (!box) return;
  for (const button of all ? box.querySelectorAll('[data-accept]') : []) {
    /** @type {HTMLInputElement} */
    const input = document.getElementById(button.dataset.accept);
    button.closest('li').hidden = input?.value === button.dataset.value;
  }
  box.hidden = !box.querySelector('li:not([hidden])');
};
/** @param {HTMLElement} input */
export const suggestionOf = (input) =>
  input.id && query(`.panel-suggested li:not([hidden]) [data-accept="${CSS.escape(input.id)}"]`);
// The document type comes first, because it also fills in the usual book type. All together are one step.
export const acceptAll = () => {
  const at = past.length;
  panel.querySelectorAll('.panel-suggested li:not([hidden]) [data-accept]').forEach(accept);
  const steps = past.splice(at).flat();
  const names = [...new Set(steps.map(({ name }) => name))];
  const changes = names.map((name) => steps.filter((change) => change.name === name));
  if (steps.length) past.push(changes.map((list) => ({ name: list[0].name, from: list[0].from, to: list.at(-1).to })));
};

// While the server reads a scan, the panel shows the progress and then the suggestions. What the user typed
// stays as it is.
let readingTimer = 0,
  readingWait = 0;
/** @param {boolean} [again] */
export const watchReading = (again) => {
  clearTimeout(readingTimer);
  if (!again) readingWait = 2000;
  if (!query('[data-reading]')?.textContent) return;
  readingTimer = setTimeout(updateReading, readingWait);
  readingWait = Math.min(readingWait * 1.5, 30_000);
};
const updateReading = async () => {
  const shown = form();
  if (!shown || panel.hidden || document.hidden || state.sending) {
    watchReading(true);
    return;
  }
  const response = await fetch(addressOf(shown.dataset.id), {
    redirect: 'manual',
    headers: { 'HX-Request': 'true' },
  }).catch(() => /** @type {null} */ (null));
  const fresh = document.createElement('template');
  if (response?.ok) fresh.innerHTML = await response.text();
  if (form() !== shown) return; // another form has its own timer
  const line = query('[data-reading]'),
    reading = fresh.content.querySelector('[data-reading]');
  if (reading && line.textContent !== reading.textContent) line.textContent = reading.textContent;
  const box = fresh.content.querySelector('.panel-suggested'),
    old = query('.panel-suggested');
  if (box && old?.innerHTML !== box.innerHTML) {
    if (old) old.replaceWith(box);
    else form().querySelector('header').after(box);
    hideAccepted(true);
    if (!box.hidden) say('Suggestions from the text are shown in the panel.');
  }
  watchReading(true);
};
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) watchReading();
});

panel.addEventListener('panel:replayed', () => hideAccepted(true));
