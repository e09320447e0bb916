// @ts-check
// The panel beside a document: its elements, messages, and requests.
import { signInLink } from './page.js';
import { viewer } from './viewer.js';

export const panel = viewer.querySelector('[data-panel]');
/** @type {Query} */
export const query = (selector) => panel.querySelector(selector);

export const form = () => query('form[data-instrument-form]');
/** @param {string} name */
export const field = (name) => form()?.elements[`instrument.${name}`];
export const shownPage = () => Number(viewer.dataset.shown || viewer.dataset.page) || 1;
// state has what the parts of the panel share.
/** @type {{ sending: boolean, rejected: boolean, lastField: HTMLInputElement | HTMLTextAreaElement }} */
export const state = {
  sending: false,
  rejected: false, // the values of the form aren't stored
  lastField: null, // the field that had the focus last
};

/** @param {...(string | Node)} parts */
export const showProblem = (...parts) => {
  const line = query('[data-panel-problem]');
  if (!line) return;
  const message = document.createElement('span'); // keeps its text and links on the same lines
  message.append(...parts);
  line.replaceChildren(...(parts.length > 0 ? [message] : []));
  line.scrollIntoView({ block: 'nearest' });
};

/** @param {string} text */
export const showNotice = (text) => {
  const box = document.createElement('div');
  box.className = 'notice';
  box.setAttribute('role', 'status');
  box.textContent = text;
  query('[data-panel-problem]').before(box);
};
/** @param {string} text */
export const say = (text) => {
  viewer.querySelector('[data-said]').textContent = text;
};

// request sends a request that asks for a part of a page. It returns null if the session expired or
// the server can't be reached.
/** @param {string | URL} address */
export const request = async (address, options = {}) => {
  let response;
  try {
    response = await fetch(address, { redirect: 'manual', ...options, headers: { 'HX-Request': 'true' } });
  } catch {
    showProblem(`The server isn't responding. ${form() ? 'What you typed is still here. ' : ''}Try again in a moment.`);
    return null;
  }
  if (response.status !== 401 && response.type !== 'opaqueredirect') return response;
  const then = form()
    ? ', then try again. What you typed is still here.'
    : '. This panel then continues automatically.';
  showProblem('You were signed out. ', signInLink(), then);
  return null;
};
/** @param {Response} response */
export const showFailure = async (response) => {
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const message = page.querySelector('.problem') || page.querySelector('main p') || page.body;
  showProblem(message.textContent.trim() || 'Something went wrong. Reload the page and try again.');
};

// addressOf returns the address of the panel with an instrument, a new one ('0'), or one of the page that is shown.
/** @param {string} [id] */
export const addressOf = (id) => {
  const address = new URL(panel.dataset.source, location.href);
  if (id === '0') address.searchParams.set('panel', 'new');
  else if (id) address.searchParams.set('instrument', id);
  else address.searchParams.set('page', String(shownPage()));
  return address;
};

/** @param {number} n */
export const goTo = (n) => viewer.dispatchEvent(new CustomEvent('viewer:go', { detail: n }));
