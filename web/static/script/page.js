// @ts-check
// Behavior of every page. Each part has a fallback without scripts.

const statusLine = document.createElement('p');
statusLine.className = 'visually-hidden';
statusLine.setAttribute('role', 'status');
document.body.append(statusLine);

// typing reports whether a key press on el enters text or belongs to an open menu or dialog. Other
// scripts also use it to ignore such keys.
/** @param {EventTarget} el */
export const typing = (el) =>
  el instanceof Element &&
  !!el.closest('input:not([type=file]), select, textarea, [contenteditable], dialog[open], details.menu[open]');
// isSide reports whether the page is one of two that are side by side, in a frame of the page that has both.
export const isSide = window.parent !== window;
if (isSide) window.parent.dispatchEvent(new CustomEvent('deedkeep:side', { detail: window.frameElement }));
// On pages without a session, such as sign-in, clear the tab's session storage. It can have names of records.
if (document.querySelector('main.alone')) {
  try {
    sessionStorage.clear();
  } catch {
    /* not allowed */
  }
}
// addHidden adds a hidden input to a form.
/**
 * @param {HTMLFormElement} form
 * @param {string} name
 * @param {string} value
 */
export const addHidden = (form, name, value) => {
  const input = document.createElement('input');
  input.type = 'hidden';
  input.name = name;
  input.value = value;
  form.append(input);
};
export const signInLink = () => {
  const link = document.createElement('a');
  link.href = '/sign-in';
  link.target = '_blank';
  link.rel = 'noopener';
  link.textContent = 'Sign in again in a new tab';
  return link;
};
/** @param {string} text */
export const announce = (text) => {
  statusLine.textContent = text;
};

// Escape closes an open menu.
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    const menu = event.target.closest('details.menu[open]') || document.querySelector('details.menu[open]');
    if (!menu) return;
    const inside = menu.contains(document.activeElement);
    menu.open = false;
    if (inside) menu.querySelector('summary').focus();
  }
});

// At most one menu is open. It closes when the focus or a click moves elsewhere.
/** @param {HTMLElement} except */
const closeMenus = (except) => {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (!except || !menu.contains(except)) menu.open = false;
  }
};
document.addEventListener('click', (event) => closeMenus(event.target));
// Pressing on text in a menu moves the focus to main, which must not close the menu.
document.addEventListener('focusin', (event) => {
  if (event.target.id !== 'main') closeMenus(event.target);
});

// Scrolls the current tab into view if the tabs don't fit next to each other.
const tab = document.querySelector('.tabs [aria-current]');
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;

/** @param {HTMLElement} field */
const isFilled = (field) => {
  /** @type {HTMLInputElement | HTMLSelectElement} */
  const control = field.querySelector('input, select');
  return Boolean(control?.value);
};
// On phones, a button opens the filters of a list and shows how many filters are set.
for (const form of document.querySelectorAll('form.filters')) {
  const fields = [...form.querySelectorAll(':scope > .field')];
  if (fields.length < 3) continue;
  const otherFields = fields.slice(1);
  const activeCount = otherFields.filter(isFilled).length;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'unfold';
  button.textContent = activeCount ? `Filters (${activeCount})` : 'Filters';
  button.setAttribute('aria-expanded', 'false');
  fields[0].classList.add('first');
  fields[0].after(button);
  form.classList.add('folded');
  button.addEventListener('click', () => {
    button.setAttribute('aria-expanded', String(!form.classList.toggle('folded')));
  });
}

// form[data-confirm] and button[data-confirm] ask for confirmation; data-confirm is the question.
/**
 * @param {string} question
 * @param {HTMLElement} submitter
 * @param {() => void} onConfirm
 */
const confirmThen = (question, submitter, onConfirm) => {
  const dialog = document.createElement('dialog');
  const text = document.createElement('p');
  const row = document.createElement('div');
  const cancelButton = document.createElement('button');
  const continueButton = document.createElement('button');
  text.textContent = question;
  text.id = 'confirm-question';
  dialog.setAttribute('aria-labelledby', text.id);
  dialog.setAttribute('closedby', 'any');
  row.className = 'form-actions';
  cancelButton.type = continueButton.type = 'button';
  cancelButton.textContent = 'Cancel';
  continueButton.textContent =
    (submitter && (submitter.getAttribute('aria-label') || submitter.textContent).trim()) || 'Continue';
  continueButton.className = submitter?.classList.contains('danger') ? 'danger primary' : 'primary';
  row.append(cancelButton, continueButton);
  dialog.append(text, row);
  cancelButton.addEventListener('click', () => dialog.close());
  continueButton.addEventListener('click', () => {
    dialog.close();
    onConfirm();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};
const confirmed = new WeakSet();
// The capture phase runs before htmx, which listens on the form.
document.addEventListener(
  'submit',
  (event) => {
    const form = event.target;
    const question = event.submitter?.dataset.confirm || form.dataset.confirm;
    if (!question || confirmed.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    confirmThen(question, event.submitter, () => {
      confirmed.add(form);
      form.requestSubmit(event.submitter);
    });
  },
  true,
);

// [data-print] opens the print dialog. It is shown only if scripts run.
for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}

// Ignores a second click while a form is being sent.
const sent = new WeakSet();
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== 'post' || form.target === '_blank') return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), 5000);
});

// After a sign-out, the next user must not see the names of the uploads that were in progress.
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || new URL(event.target.action).pathname !== '/sign-out') return;
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith('tus::')) localStorage.removeItem(key);
  } catch {
    /* not allowed */
  }
});

// [data-copy] copies its text, or the text of the element it names ("#id").
/** @param {string} text */
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS, browsers provide only this deprecated function.
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') || document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('not copied');
};
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  let text = button.dataset.copy;
  if (text.startsWith('#')) {
    /** @type {HTMLInputElement} */
    const source = document.querySelector(text);
    text = source.value ?? source.textContent.trim();
  }
  try {
    await copy(text);
    statusLine.textContent = 'Copied.';
    button.dataset.copied = '';
    setTimeout(() => {
      delete button.dataset.copied;
      statusLine.textContent = '';
    }, 2000);
  } catch {
    statusLine.textContent = 'Copying failed. Select the text and copy it manually.';
  }
});

// Shows at the top of the page why a partial request failed. If the server sent a message, the
// message is included.
/** @param {string | Node | (string | Node)[]} text */
const showProblem = (text) => {
  let problem = document.getElementById('page-problem');
  if (!problem) {
    problem = document.createElement('p');
    problem.id = 'page-problem';
    problem.className = 'problem';
    problem.setAttribute('role', 'alert');
    document.getElementById('main').prepend(problem);
  }
  const message = document.createElement('span'); // keeps its text and links on the same lines
  message.append(...[text].flat());
  problem.replaceChildren(message);
  problem.scrollIntoView({ block: 'nearest' });
};
// A partial request must not redirect to the sign-in page while the user types, because the typed
// text would be lost.
/** @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} field */
const isChanged = (field) => {
  if (field.type === 'hidden' || field.closest('.filters, .find')) return false;
  if (field instanceof HTMLSelectElement)
    return [...field.options].some((option) => option.selected !== option.defaultSelected) && field.selectedIndex > 0;
  if (field.type === 'checkbox' || field.type === 'radio')
    return 'checked' in field && field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
};
document.addEventListener('htmx:beforeOnLoad', (event) => {
  const { xhr } = event.detail;
  if (xhr.status !== 401 || !xhr.getResponseHeader('HX-Redirect')) return;
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = document.querySelectorAll('main input, main select, main textarea');
  if (![...fields].some(isChanged)) return;
  event.preventDefault();
  if (!document.getElementById('page-problem'))
    showProblem(['You were signed out. ', signInLink(), ', then try again. What you typed is still here.']);
});
document.addEventListener('htmx:sendError', () =>
  showProblem("The server isn't responding. What you typed is still here. Try again in a moment."),
);
document.addEventListener('htmx:responseError', (event) => {
  const responsePage = new DOMParser().parseFromString(event.detail.xhr.responseText, 'text/html');
  const message = responsePage.querySelector('.problem');
  if (message?.querySelector('a, time')) {
    // the message has a link or a time
    showProblem([...document.importNode(message, true).childNodes]);
    return;
  }
  showProblem(message ? message.textContent.trim() : 'Something went wrong. Reload the page and try again.');
});
document.addEventListener('htmx:afterSwap', () => document.getElementById('page-problem')?.remove());
