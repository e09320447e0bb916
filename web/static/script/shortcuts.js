// @ts-check
// Keys of every page: ? shows all shortcuts, and J, K, X, and Enter work in a list of records.
import { typing } from './page.js';

/** @returns {HTMLDialogElement} */
const dialog = () => document.querySelector('dialog#shortcuts');
const rows = () => [...document.querySelectorAll('#results tbody tr')];
/** @param {Element} row */
const link = (row) => row.querySelector('a.name');

// step focuses the link of the next or the previous row.
/** @param {number} by */
const step = (by) => {
  const list = rows();
  const at = list.findIndex((row) => row.contains(document.activeElement));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by];
  if (!next) return;
  link(next)?.focus();
  next.scrollIntoView({ block: 'nearest' });
};
const choose = () => {
  const row = rows().find((one) => one.contains(document.activeElement));
  row?.querySelector('input[type=checkbox]')?.click();
};

/** @type {Record<string, () => void>} */
const keys = { j: () => step(1), k: () => step(-1), x: choose };
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) && !event.target.matches('#results input[type=checkbox]')) return;
  // The viewer has a list of its own.
  if (
    event.key === '?' &&
    dialog() &&
    !document.querySelector('[data-do="keys"]') &&
    !document.querySelector('dialog:modal')
  ) {
    event.preventDefault();
    dialog().showModal();
    return;
  }
  const act = rows().length && !document.querySelector('dialog[open]') && keys[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});
document.addEventListener('click', (event) => {
  if (event.target === dialog() || event.target.closest('[data-shortcuts="close"]')) dialog().close();
  if (event.target.closest('[data-shortcuts="open"]')) {
    event.preventDefault();
    dialog().showModal();
  }
});
