// @ts-check
// The number of the current page, in the bar and in the address.

import { announce, query, viewer } from './viewer.js';
import { pages, view } from './viewer-geometry.js';

/** @type {HTMLInputElement} */
export const numberInput = query('[data-number]');
let shownPage = 0;
/** @param {number} n */
export const setCurrentPage = (n) => {
  if (n === shownPage) return;
  shownPage = n;
  view.current = n;
  viewer.dataset.shown = String(n);
  viewer.dispatchEvent(new CustomEvent('viewer:shown'));
  if (document.activeElement !== numberInput) numberInput.value = String(n);
  for (const [name, disabled] of [
    ['previous', n <= 1],
    ['next', n >= pages.length],
  ]) {
    const link = query(`[data-do="${name}"]`);
    if (disabled) link.setAttribute('aria-disabled', 'true');
    else link.removeAttribute('aria-disabled');
  }
  query('[data-percent]').textContent = `${Math.round(pages[n - 1].scale * 100)}%`;
  if (view.ready) announce(`Page ${n} of ${pages.length}`, 300);
  storePage();
};

// The address contains the page number, so that it can be shared.
let rememberTimer = 0;
const storePage = () => {
  clearTimeout(rememberTimer);
  rememberTimer = setTimeout(() => {
    const url = new URL(location.href);
    url.searchParams.set('page', String(view.current));
    for (const name of ['w', 'turn']) url.searchParams.delete(name);
    history.replaceState(null, '', url);
  }, 400);
};
