// @ts-check
// The document viewer: its bar, its dialogs, and the keys of every kind of document. Without scripts, it shows
// one page image, or the text, and links. viewer-pages.js shows page images, and viewer-text.js a document as text.
import { isSide, typing } from './page.js';

/** Reports whether the window is as narrow as that of a phone. */
export const isPhone = () => innerWidth < 700;

export const viewer = document.querySelector('[data-viewer]');
/** @type {Query} */
export const query = (selector) => viewer.querySelector(selector);
export const base = viewer.dataset.document;
export const pane = query('[data-pages]');
/** @type {HTMLFormElement} */
export const finder = query('[data-finder]');
const liveRegion = query('[data-said]');
let announceTimer = 0;
/** @param {string} text */
export const announce = (text, after = 0) => {
  clearTimeout(announceTimer);
  announceTimer = setTimeout(() => {
    liveRegion.textContent = text;
  }, after);
};

/** @param {string} name */
const dialog = (name) => {
  const box = query(`dialog[data-dialog="${name}"]`);
  if (!box) return;
  box.open = false; // initially, as without this script
  box.showModal();
  const input = box.querySelector('input[name="name"]');
  if (!input) return;
  const dot = input.value.lastIndexOf('.');
  input.focus();
  input.setSelectionRange(0, dot > 0 ? dot : input.value.length);
};

/** @param {'next' | 'previous'} direction */
const openSibling = (direction) => {
  const to = viewer.dataset[direction];
  // The browser's Back button returns to the page from which the first document was opened.
  if (to) location.replace(to);
  else announce(direction === 'next' ? 'This is the last document.' : 'This is the first document.');
};

/** @type {Record<string, (event?: Action) => unknown>} */
export const actions = {
  facts: () => dialog('facts'),
  rename: () => dialog('rename'),
  keys: () => dialog('keys'),
  /** @param {On<Event>} event */
  close: (event) => event.target.closest('dialog').close(),
  // Beside another page, the way back is in the bar of both.
  back: () => (isSide ? false : location.assign(viewer.dataset.back)),
  leave: () => (document.querySelector('details.menu[open]') ? false : actions.back()),
  'document-next': () => openSibling('next'),
  'document-previous': () => openSibling('previous'),
};
/** @type {Record<string, string>} */
export const keys = {
  n: 'document-next',
  ']': 'document-next',
  p: 'document-previous',
  '[': 'document-previous',
  '?': 'keys',
  u: 'back',
  Escape: 'leave',
};

viewer.addEventListener('click', (event) => {
  /** @type {HTMLAnchorElement} */
  const button = event.target.closest('[data-do]');
  if (!button || event.ctrlKey || event.metaKey || (event.shiftKey && button.href)) return;
  const action = actions[button.dataset.do];
  if (!action) return;
  event.preventDefault();
  const menu = button.closest('details.menu');
  if (menu) menu.open = false;
  action(event);
});

document.addEventListener(
  'keydown',
  (event) => {
    if (event.defaultPrevented || event.altKey || typing(event.target)) return;
    if (event.key === 'Escape' && event.target.closest('[data-panel]')) return; // viewer-panel.js handles it
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() === 'f' && !event.shiftKey && actions.find) {
        event.preventDefault();
        actions.find(event);
      }
      return;
    }
    // Space and Enter activate a focused control.
    if ((event.key === ' ' || event.key === 'Enter') && event.target.closest('a, button, summary')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions[keys[key]];
    if (!action) return;
    if (action(event) !== false) event.preventDefault();
  },
  true,
);

// A form that is open when the page loads was requested or has errors.
const renameForm = query('[data-dialog="rename"][open] form');
if (renameForm) {
  history.replaceState(null, '', renameForm.elements.back.value);
  dialog('rename');
}

// The other side may have the focus.
if (!isSide || document.hasFocus()) pane.focus({ preventScroll: true });
