// @ts-check
// The instruments of a document: the page where a field was read is beside it, and keys go from one doubtful field to the
// next and from page to page. Without scripts, users can do the same with buttons and links.
import { announce } from './page.js';

/** @type {HTMLElement} */
const form = document.querySelector('[data-packet]');
/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} selector
 * @returns {T}
 */
const query = (selector) => form?.querySelector(selector);

// The preview

const sheet = query('.packet-sheet');
/** @type {HTMLImageElement} */
const image = query('.packet-sheet img');
/** @type {HTMLAnchorElement} */
const openLink = query('[data-open]');
let shown = Number(image?.alt.replace(/\D/g, ''));
let wanted = ''; // the line that is marked

// mark shows where a line is on the page.
/**
 * @param {number} page
 * @param {string} line
 */
const mark = async (page, line) => {
  const key = `${page} ${line}`;
  if (key === wanted) return;
  wanted = key;
  for (const old of sheet.querySelectorAll('.packet-mark')) old.remove();
  if (!line || image.dataset.turn !== '0') return;
  const address = `${image.src.replace(/\?.*/, '')}/marks?q=${encodeURIComponent(line)}`;
  const response = await fetch(address).catch(() => /** @type {null} */ (null));
  if (!response?.ok || key !== wanted) return;
  /** @type {{ marks: [number, number, number, number][][] }} */
  const { marks } = await response.json();
  for (const [left, top, right, bottom] of marks[0] ?? []) {
    const box = document.createElement('div');
    box.className = 'packet-mark';
    box.style.cssText = `left:${left * 100}%;top:${top * 100}%;width:${(right - left) * 100}%;height:${(bottom - top) * 100}%`;
    image.after(box);
  }
  showMark();
};
const showMark = () => {
  const box = query('.packet-mark');
  if (!box) return;
  sheet.scrollTop = box.offsetTop - sheet.clientHeight / 3;
  sheet.scrollLeft = box.offsetLeft - sheet.clientWidth / 4;
};
/**
 * @param {number} page
 * @param {string} [line]
 */
const show = (page, line = '') => {
  const link = query(`[data-page="${page}"]`);
  if (!link) return;
  if (page !== shown) {
    shown = page;
    image.src = image.src.replace(/\/pages\/\d+/, `/pages/${page}`);
    image.alt = openLink.textContent = `Page ${page}`;
    image.dataset.turn = link.querySelector('img').dataset.turn;
    openLink.href = link.getAttribute('href');
    sheet.scrollTop = 0;
  }
  for (const other of form.querySelectorAll('[data-page][aria-current]')) other.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  mark(page, line);
};

// Doubtful fields

const doubtful = () => [...form.querySelectorAll('[data-doubtful]')].filter((field) => field.closest('[data-part]'));
/** @param {Element} field */
const controlOf = (field) =>
  /** @type {HTMLElement} */ (field.querySelector('input:not([type=hidden]), select, textarea'));
const showLeft = () => {
  const count = doubtful().length;
  const text = count ? `${count} left to check` : 'Nothing left to check';
  const line = query('[data-left]');
  if (line.textContent !== text) line.textContent = text;
};
// check marks a doubtful field as compared with the page. The server gets its name if the form is shown again.
/** @param {HTMLElement} field */
const check = (field) => {
  if (!field?.dataset.doubtful) return;
  /** @type {HTMLInputElement} */
  const box = field.querySelector('input[name="checked"]'); // of a boundary
  if (box) box.checked = true;
  else {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = 'checked';
    input.value = field.dataset.doubtful;
    form.append(input);
  }
  delete field.dataset.doubtful;
  const control = controlOf(field);
  const words = control.getAttribute('aria-describedby')?.split(' ') ?? [];
  control.setAttribute('aria-describedby', words.filter((id) => !id.endsWith('-warning')).join(' '));
  showLeft();
};
// step checks the field that has the focus and goes to the next doubtful one, or else to the button that adds all.
/** @param {boolean} back */
const step = (back) => {
  const here = /** @type {HTMLElement} */ (document.activeElement?.closest('.packet-field'));
  const at = here ?? document.activeElement;
  const side = back ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
  const list = doubtful().filter((field) => field !== here);
  if (!back) check(here);
  const beside = form.contains(at) ? list.filter((field) => at.compareDocumentPosition(field) & side) : list;
  const next = (back ? beside.at(-1) : beside[0]) ?? (back ? list.at(-1) : list[0]);
  if (!next) {
    query('[data-add]').focus();
    announce('Nothing left to check.');
    return;
  }
  const group = next.closest('details');
  if (group) group.open = true;
  const control = controlOf(next);
  control.focus();
  if (control instanceof HTMLInputElement && control.type !== 'checkbox') control.select();
  next.scrollIntoView({ block: 'nearest' });
};

// The pages

const pageLinks = () => /** @type {HTMLAnchorElement[]} */ ([...form.querySelectorAll('[data-page]')]);
// Only one page is in the tab order, as in a toolbar.
/** @param {HTMLElement} link */
const rove = (link) => {
  for (const other of pageLinks()) other.tabIndex = other === link ? 0 : -1;
};
/** @type {Record<string, (link: HTMLAnchorElement) => void>} */
const pageKeys = {
  s: (link) => query(`[name="split"][value="${link.dataset.page}"]`)?.click(),
  m: (link) => link.closest('.packet-group').querySelector('button[name="join"]')?.click(),
};
/** @type {Record<string, number>} */
const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
/** @param {On<KeyboardEvent>} event */
const onPageKey = (event) => {
  const link = event.target.closest('a[data-page]');
  if (!link) return false;
  const list = pageLinks();
  const at = list.indexOf(link);
  const to = event.key === 'Home' ? 0 : event.key === 'End' ? list.length - 1 : at + steps[event.key];
  if (list[to]) {
    list[to].focus();
    return true;
  }
  const act = pageKeys[event.key.toLowerCase()];
  if (!act) return false;
  act(link);
  return true;
};

form?.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const { key, target } = event;
  const control = event.ctrlKey || event.metaKey;
  const inField = target.closest('[data-part]') && target.matches('input, select, textarea');
  const isEnter = key === 'Enter' && inField && (control || !target.matches('textarea'));
  if (isEnter) {
    event.preventDefault();
    step(event.shiftKey);
  } else if (!control && !event.shiftKey && onPageKey(event)) event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  if (!form || event.defaultPrevented || event.key !== 'F4' || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  step(event.shiftKey);
});
form?.addEventListener('focusin', (event) => {
  const link = event.target.closest('a[data-page]');
  if (link) {
    rove(link);
    show(Number(link.dataset.page));
  }
  const field = event.target.closest('.packet-field');
  if (field?.dataset.at) show(Number(field.dataset.at), field.dataset.line);
});
form?.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest('a[data-page]');
  if (link) {
    event.preventDefault();
    link.focus();
    show(Number(link.dataset.page));
  } else if (event.target.closest('[data-zoom]')) {
    const button = event.target.closest('[data-zoom]');
    button.setAttribute('aria-pressed', String(sheet.classList.toggle('zoomed')));
    showMark();
  }
});
// A value that a person enters isn't doubtful, and its instrument is added.
form?.addEventListener('input', (event) => {
  const field = event.target.closest('.packet-field');
  if (!field) return;
  const { target } = event;
  if (target instanceof HTMLInputElement && target.name === 'checked' && !target.checked) {
    field.dataset.doubtful = target.value;
    showLeft();
    return;
  }
  check(field);
  if (field.matches('.packet-boundary')) return;
  const box = field.closest('[data-part]').querySelector('input[name="row"]');
  if (box) box.checked = true;
});
let submitted = false;
form?.addEventListener('submit', () => {
  submitted = true;
});
let changed = Boolean(form?.hasAttribute('data-changed'));
form?.addEventListener('input', () => {
  changed = true;
});
window.addEventListener('pageshow', () => {
  submitted = false;
});
window.addEventListener('beforeunload', (event) => {
  if (changed && !submitted) event.preventDefault();
});

if (form) {
  const links = pageLinks();
  rove(links.find((link) => link.autofocus) ?? links[0]);
  for (const button of form.querySelectorAll('.packet-strip button')) button.tabIndex = -1;
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const field = /** @type {HTMLElement} */ (focused?.closest('.packet-field'));
  if (field?.dataset.at) show(Number(field.dataset.at), field.dataset.line);
  else show(shown);
}
