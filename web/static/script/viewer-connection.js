// @ts-check
// Helpers of the viewer: they watch the connection and the session, and store settings in the browser.
import { isSide, signInLink } from './page.js';

// Beside another page, a document is narrow. The choices that users make there are those of its side, until they close the tab.
const choices = () => (isSide ? sessionStorage : localStorage);
/** @param {string} name */
const keyOf = (name) => (isSide ? `viewer.${window.name}.${name}` : `viewer.${name}`);
/**
 * @param {string} name
 * @param {string | number} value
 */
export const store = (name, value) => {
  try {
    choices().setItem(keyOf(name), String(value));
  } catch {
    /* not allowed */
  }
};
/** @param {string} name */
export const load = (name) => {
  try {
    return choices().getItem(keyOf(name));
  } catch {
    return null;
  }
};

// watchConnection tracks the connection: "" is ok, "out" means that the session has expired, "away"
// that the server can't be reached. While it isn't ok, a message shows above the element. It calls
// onReconnect when the connection is ok again.
/**
 * @param {HTMLElement} element
 * @param {() => void} onReconnect
 */
export const watchConnection = (element, onReconnect) => {
  const alertBox = document.createElement('p');
  alertBox.className = 'problem viewer-out';
  alertBox.setAttribute('role', 'alert');
  alertBox.hidden = true;
  const message = document.createElement('span');
  alertBox.append(message);
  element.before(alertBox);
  let state = '',
    timer = 0;

  const showState = () => {
    if (state === 'out') {
      message.replaceChildren('You were signed out. ', signInLink(), '. This page then continues automatically.');
    } else {
      message.textContent = "The server isn't responding. This page continues automatically when it does.";
    }
  };
  /** @param {string} newState */
  const setState = (newState) => {
    if (newState === state) return;
    const previous = state;
    state = newState;
    alertBox.hidden = !newState;
    clearInterval(timer);
    if (newState) {
      showState();
      timer = setInterval(checkSession, 5000);
    } else if (previous) {
      onReconnect();
    }
  };
  // checkSession requests a page that every signed-in user may see.
  const checkSession = async () => {
    let newState = '';
    try {
      const response = await fetch('/me', { method: 'HEAD', redirect: 'manual', cache: 'no-store' });
      if (response.type === 'opaqueredirect' || response.status === 401) newState = 'out';
      else if (response.status >= 500) newState = 'away';
    } catch {
      newState = 'away';
    }
    setState(newState);
    return newState;
  };
  const recheck = () => {
    if (state) checkSession();
  };
  window.addEventListener('focus', recheck);
  window.addEventListener('online', recheck);

  // request fetches a URL that requires a session.
  /**
   * @param {string} url
   * @param {RequestInit} [options]
   */
  const request = async (url, options) => {
    let response;
    try {
      response = await fetch(url, { redirect: 'manual', ...options });
    } catch (err) {
      setState('away');
      throw err;
    }
    if (response.type !== 'opaqueredirect' && response.status !== 401) return response;
    setState('out');
    throw new Error('signed out');
  };
  return { state: () => state, checkSession, request };
};
