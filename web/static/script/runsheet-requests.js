// @ts-check
// Requests of the runsheet, and messages about them.

/**
 * @param {string} kind
 * @param {string} text
 * @param {string} [label]
 * @param {() => void} [act]
 */
export const show = (kind, text, label, act) => {
  const box = document.createElement('div');
  box.className = kind;
  box.setAttribute('role', kind === 'notice' ? 'status' : 'alert');
  const line = document.createElement('span');
  line.textContent = text;
  box.append(line);
  if (label) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = label;
    button.addEventListener('click', act);
    box.append(button);
  }
  document.getElementById('runsheet-notices').replaceChildren(box);
};
export const clearMessages = () => document.getElementById('runsheet-notices').replaceChildren();

/**
 * @param {string} address
 * @param {any} values
 * @param {string} accept
 */
export const post = (address, values, accept) =>
  fetch(address, {
    method: 'POST',
    body: new URLSearchParams(values),
    headers: { 'HX-Request': 'true', Accept: accept },
  });
// problemOf returns the message in a response that has no data.
/**
 * @param {number} status
 * @param {string} text
 */
export const problemOf = (status, text) => {
  if (status === 401)
    return 'You were signed out. Sign in again in a new tab, then try again. What you typed is still here.';
  const message = new DOMParser().parseFromString(text, 'text/html').querySelector('.problem');
  return message?.textContent.trim() || 'Something went wrong. Reload the page and try again.';
};
// send sends a form and returns the state in the response. The state has a problem if it failed,
// "conflict" if another person changed the same, and "unsent" if it can be sent again later.
/**
 * @param {string} address
 * @param {any} values
 */
export const send = async (address, values) => {
  try {
    const response = await post(address, values, 'application/json');
    const text = await response.text();
    if (response.headers.get('Content-Type')?.startsWith('application/json'))
      return { ...JSON.parse(text), conflict: response.status === 412 };
    return { problem: problemOf(response.status, text), unsent: response.status === 401 };
  } catch {
    return {
      problem: "The server isn't responding. What you typed is still here. Try again in a moment.",
      unsent: true,
    };
  }
};

// Requests are sent one after another, so that the cells of a new row find their instrument.
/** @type {Promise<unknown>} */
let queue = Promise.resolve();
export let queued = 0;
/** @param {() => unknown} work */
const afterOthers = (work) => {
  queue = queue.then(work).catch((error) => {
    show('problem', 'Something went wrong. Reload the page and try again.');
    console.error(error);
  });
  return queue;
};
/** @param {() => unknown} work */
export const enqueue = (work) => {
  queued++;
  afterOthers(work).finally(() => {
    queued--;
  });
};
// enqueueRead is like enqueue for a request that changes nothing, so users can leave the page.
/** @param {() => unknown} work */
export const enqueueRead = (work) => {
  afterOthers(work);
};
