// @ts-check
// What the search box can do besides searching: open a place, and press a button of the page. A page offers a button or a
// link with data-action, which has the name of the action.
import { nextUndo, undoLast } from './undo.js';

/** @returns {HTMLElement} */
const box = () => document.querySelector('#palette .palette-actions');
const maxShown = 6;

// The places of every page: name, address, and what the user must be allowed to do.
const places = [
  ['New order', '/orders/new', 'write'],
  ['New abstract', '/abstracts/new', 'write'],
  ['Desk', '/', ''],
  ['My work', '/work', ''],
  ['Orders', '/orders', ''],
  ['Abstracts', '/abstracts', ''],
  ['Instruments', '/instruments', ''],
  ['Vault', '/vault', ''],
  ['Trash', '/trash', 'write'],
  ['Your account', '/me', ''],
  ['Help', '/help', ''],
  ['Templates', '/admin/templates', 'administer'],
  ['Order fields', '/admin/fields', 'administer'],
  ['Order statuses', '/admin/statuses', 'administer'],
  ['Document types', '/admin/types', 'administer'],
  ['Phrases', '/admin/phrases', 'administer'],
  ['Users', '/admin/users', 'administer'],
  ['API keys', '/admin/keys', 'administer'],
  ['Activity', '/admin/activity', 'administer'],
  ['Backups', '/admin/backups', 'administer'],
  ['Settings', '/admin/settings', 'administer'],
  ['System check', '/admin/settings#examine', 'administer'],
];

/** @param {HTMLElement} el */
const isUsable = (el) =>
  (el.checkVisibility() || el.closest('details.menu:not([open])')) &&
  !el.matches('[disabled], [aria-disabled="true"], [aria-pressed="true"]');
/** @param {string} may */
const mayDo = (may) => !may || box().closest('dialog').dataset.may.split(' ').includes(may);
// offers returns the actions of the page, and then those of every page.
/** @returns {{name: string, href?: string, control?: { click: () => void }}[]} */
const offers = () => [
  ...[nextUndo()].filter(Boolean).map(({ what }) => ({ name: `Undo: ${what}`, control: { click: undoLast } })),
  ...[...document.querySelectorAll('[data-action]')]
    .filter(isUsable)
    .map((control) => ({ name: control.dataset.action, control })),
  ...places.filter(([, , may]) => mayDo(may)).map(([name, href]) => ({ name, href })),
];
// fits reports whether each typed word begins a word of the name.
/**
 * @param {string} name
 * @param {string[]} typed
 */
const fits = (name, typed) => {
  const words = name.toLowerCase().split(/\s+/);
  return typed.every((part) => words.some((word) => word.startsWith(part)));
};

// showActions shows the actions that fit what was typed. Without text, it shows those of the page.
/** @param {string} text */
export const showActions = (text) => {
  const typed = text.toLowerCase().split(/\s+/).filter(Boolean);
  const list = offers().filter(({ name, control }) => (typed.length ? fits(name, typed) : control));
  const options = list.slice(0, maxShown).map(({ name, href, control }, n) => {
    const option = document.createElement('a');
    option.id = `palette-action-${n}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.tabIndex = -1;
    option.href = href ?? '#';
    option.textContent = name;
    if (control) {
      option.dataset.press = '';
      option.addEventListener('click', (event) => {
        event.preventDefault();
        option.closest('dialog').close();
        control.click();
      });
    }
    return option;
  });
  box().replaceChildren(...options);
  box().hidden = !options.length;
};
