// @ts-check
// Two pages side by side, each in a frame. The address follows what they show. Without scripts, the divider stays in the
// middle, and links and forms change the sides.
import { announce } from './page.js';
import { load, store } from './viewer-connection.js';

/** @typedef {'left' | 'right'} SideName */
/** @type {SideName[]} */
const names = ['left', 'right'];
const sides = document.querySelector('[data-sides]');
/** @param {SideName} name */
const sideOf = (name) => sides.querySelector(`[data-side="${name}"]`);
/** @param {SideName} name */
const frameOf = (name) => sideOf(name).querySelector('iframe');
/** @param {SideName} name */
const selectOf = (name) => sideOf(name).querySelector('select');
/** @param {SideName} name */
const otherThan = (name) => (name === 'left' ? 'right' : 'left');
/** @param {Element} el */
const nameOf = (el) => /** @type {SideName} */ (el.closest('[data-side]').dataset.side);
const both = names.every(frameOf);

// ---- what the sides show

/** @type {Record<string, { value: string, alone: string, title: string }>} */
const shown = {};
for (const name of names) {
  const select = selectOf(name);
  const value = new URLSearchParams(location.search).get(name) ?? '';
  const alone = sideOf(otherThan(name)).querySelector('[data-close]')?.getAttribute('href') ?? '';
  if (select) shown[name] = { value, alone, title: select.selectedOptions[0]?.textContent ?? '' };
}
// sideValue returns what a page is called in the address, or "" if it can't be a side.
/** @param {{ pathname: string, search: string }} address */
const sideValue = ({ pathname, search }) => {
  const [, type, id, part] = pathname.split('/');
  if (type === 'abstracts' && part === 'runsheet') return `runsheet-${id}`;
  if (type !== 'documents' || part || !/^\d+$/.test(id)) return '';
  const page = Number(new URLSearchParams(search).get('page'));
  return page > 1 ? `document-${id}-page-${page}` : `document-${id}`;
};
/** @param {string} value */
const withoutPage = (value) => value.replace(/-page-\d+$/, '');
/** @param {string} value */
const isRunsheet = (value) => value.startsWith('runsheet-');
/** @param {string} value */
const addressOf = (value) => {
  const id = value.slice(value.indexOf('-') + 1);
  return isRunsheet(value) ? `/abstracts/${id}/runsheet` : `/documents/${id}`;
};
/**
 * @param {string} left
 * @param {string} right
 */
const addressOfBoth = (left, right) => `${location.pathname}?${new URLSearchParams({ left, right })}`;

// updateChoices keeps the links to what a side can show, while it shows nothing yet.
const updateChoices = () => {
  const name = names.find(frameOf);
  history.replaceState(null, '', `${location.pathname}?${new URLSearchParams({ [name]: shown[name].value })}`);
  for (const link of sides.querySelectorAll('a[data-choice]')) {
    const address = new URL(link.href);
    address.searchParams.set(name, shown[name].value);
    link.href = address.pathname + address.search;
  }
};
// Frames whose next page is not loaded yet. Their lists name it already.
/** @type {Set<HTMLIFrameElement>} */
const opening = new Set();
const update = () => {
  if (!both) {
    updateChoices();
    return;
  }
  const { left, right } = shown;
  history.replaceState(null, '', addressOfBoth(left.value, right.value));
  sides.querySelector('[data-swap]').setAttribute('href', addressOfBoth(right.value, left.value));
  for (const name of names) {
    const { value, title } = shown[name];
    const other = shown[otherThan(name)];
    const select = selectOf(name);
    const chosen = withoutPage(value);
    if (![...select.options].some((option) => option.value === chosen)) select.add(new Option(title, chosen));
    if (!opening.has(frameOf(name))) select.value = chosen;
    sideOf(name).querySelector('input[type=hidden]').setAttribute('value', other.value);
    sideOf(name).querySelector('[data-close]').setAttribute('href', other.alone);
    sideOf(name).toggleAttribute('data-runsheet', isRunsheet(value));
    frameOf(name).title = title;
  }
  const heading = `${left.title} and ${right.title}`;
  document.querySelector('h1').textContent = heading;
  document.title = `${heading} · deedkeep`;
};
/**
 * @param {SideName} name
 * @param {string} address
 */
const show = (name, address) => {
  opening.add(frameOf(name));
  frameOf(name).contentWindow.location.replace(address);
};

// read takes over what a side shows now.
/** @param {HTMLIFrameElement} frame */
const read = (frame) => {
  const { location: address, document: page } = frame.contentWindow;
  const value = sideValue(address);
  if (!value) return; // such as an error
  const alone = isRunsheet(value)
    ? `${address.pathname.replace(/\/runsheet$/, '')}#runsheet`
    : address.pathname + address.search;
  const option = [...selectOf(nameOf(frame)).options].find((one) => one.value === withoutPage(value));
  const title = option?.textContent || page.querySelector('h1')?.textContent || page.title;
  shown[nameOf(frame)] = { value, alone, title };
  update();
};

// ---- the pages in the frames

/** @type {WeakSet<Document>} */
const known = new WeakSet();
// prepare sets up a page that has loaded in a frame as one of the two sides. Its scripts have run, but its images may not be loaded yet.
/** @param {HTMLIFrameElement} frame */
const prepare = (frame) => {
  const page = frame.contentDocument;
  if (!page || known.has(page) || page.URL === 'about:blank') return;
  known.add(page);
  opening.delete(frame);
  // The server does both if the browser says that the page is for a frame.
  page.documentElement.dataset.framed = '';
  if (!page.querySelector('base')) {
    const base = page.createElement('base');
    base.target = '_top';
    page.head.append(base);
  }
  frame.contentWindow.addEventListener('beforeunload', () => setTimeout(() => resetIfStayed(frame, page), 1000));
  frame.contentWindow.addEventListener('keydown', onKey, true);
  frame.contentWindow.addEventListener('click', (event) => openBeside(event, nameOf(frame)), true);
  let timer = 0;
  page.querySelector('[data-viewer]')?.addEventListener('viewer:shown', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => frame.contentDocument === page && read(frame), 600); // after the page's own address
  });
  read(frame);
  if (nameOf(frame) === 'left' && document.activeElement === document.body) focusSide('left');
};
// resetIfStayed makes the menu of a side name the document that the side still shows. The user may have canceled leaving it
// in the browser's dialog about unsaved changes.
/**
 * @param {HTMLIFrameElement} frame
 * @param {Document} page
 */
const resetIfStayed = (frame, page) => {
  if (frame.contentDocument !== page || !opening.delete(frame)) return;
  update();
};
// A document that is opened from a runsheet is shown on the other side.
/**
 * @param {MouseEvent} event
 * @param {SideName} name
 */
const openBeside = (event, name) => {
  if (!both || !isRunsheet(shown[name].value) || event.button || event.ctrlKey || event.metaKey || event.shiftKey)
    return;
  const link = /** @type {Element} */ (event.target).closest('a[href]');
  if (!(link && 'pathname' in link)) return;
  const { pathname, search } = /** @type {HTMLAnchorElement} */ (link);
  if (!sideValue({ pathname, search }).startsWith('document-')) return;
  event.preventDefault();
  show(otherThan(name), pathname + search);
  announce(`${link.textContent.trim()} is on the ${otherThan(name)} side.`);
};
// A page that the browser doesn't show in a frame is the one for signing in. It gets the whole window.
/** @param {HTMLIFrameElement} frame */
const onLoad = async (frame) => {
  if (frame.contentDocument) {
    prepare(frame);
    if (frame.contentDocument.querySelector('[data-signed-out]')) location.reload();
    return;
  }
  const response = await fetch('/me', { method: 'HEAD', redirect: 'manual', cache: 'no-store' });
  if (response.type === 'opaqueredirect' || response.status === 401) location.reload();
};
window.addEventListener('deedkeep:side', (event) => prepare(/** @type {CustomEvent} */ (event).detail));

// ---- keys

/** @param {SideName} name */
const focusSide = (name) => {
  const frame = frameOf(name);
  if (!frame) {
    sideOf(name).querySelector('a')?.focus();
    return;
  }
  frame.focus();
  const page = frame.contentDocument;
  if (page && (page.activeElement === page.body || !page.activeElement)) {
    page.querySelector('[data-pages], .runsheet [tabindex="0"], main')?.focus({ preventScroll: true });
  }
};
/** @returns {SideName | ''} */
const focusedSide = () => {
  const side = document.activeElement?.closest('[data-side]');
  return side && document.activeElement.matches('iframe') ? nameOf(side) : '';
};
/** @param {KeyboardEvent} event */
const onKey = (event) => {
  if (event.key !== 'F6' || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const from = focusedSide();
  if (event.shiftKey) divider.focus();
  else focusSide(from ? otherThan(from) : 'left');
};
window.addEventListener('keydown', onKey, true);

// ---- the divider

const divider = sides.querySelector('[data-divider]');
const stacked = matchMedia('(max-width: 56rem)'); // one above the other
const least = 15; // percent
const storageKey = () => (stacked.matches ? 'sides-stacked' : 'sides');
const measure = () => {
  const [a, b] = names.map((name) => sideOf(name).getBoundingClientRect());
  const [before, after] = stacked.matches ? [a.height, b.height] : [a.width, b.width];
  divider.setAttribute('aria-valuenow', String(Math.round((100 * before) / (before + after || 1))));
  divider.setAttribute('aria-orientation', stacked.matches ? 'horizontal' : 'vertical');
};
// resize gives the left side a share in percent, or what it has at first.
/** @param {number} [share] */
const resize = (share) => {
  const left = share && Math.min(Math.max(share, least), 100 - least);
  sides.toggleAttribute('data-sized', Boolean(left));
  for (const [name, part] of Object.entries({ left, right: 100 - left })) {
    if (left) sides.style.setProperty(`--${name}`, `${part.toFixed(1)}fr`);
    else sides.style.removeProperty(`--${name}`);
  }
  measure();
};
/** @param {number} [share] */
const resizeTo = (share) => {
  resize(share);
  store(storageKey(), share ? divider.getAttribute('aria-valuenow') : '');
};
const setUpDivider = () => {
  const attributes = {
    role: 'separator',
    tabindex: '0',
    'aria-label': 'Divider',
    'aria-controls': 'left-side',
    'aria-valuemin': String(least),
    'aria-valuemax': String(100 - least),
    title: 'Drag to resize. A double click makes both sides equal.',
  };
  for (const [name, value] of Object.entries(attributes)) divider.setAttribute(name, value);
  const restore = () => resize(Number(load(storageKey())) || undefined);
  stacked.addEventListener('change', restore);
  window.addEventListener('resize', measure);
  restore();
};
/** @param {PointerEvent} event */
const shareAt = ({ clientX, clientY }) => {
  const box = sides.getBoundingClientRect();
  return stacked.matches ? (100 * (clientY - box.top)) / box.height : (100 * (clientX - box.left)) / box.width;
};
divider.addEventListener('pointerdown', (event) => {
  if (event.button) return;
  divider.setPointerCapture(event.pointerId);
  sides.toggleAttribute('data-dragging', true); // the frames don't take the pointer
});
divider.addEventListener('pointermove', (event) => {
  if (sides.hasAttribute('data-dragging')) resize(shareAt(event));
});
for (const name of ['pointerup', 'pointercancel']) {
  divider.addEventListener(name, () => {
    if (!sides.hasAttribute('data-dragging')) return;
    sides.toggleAttribute('data-dragging', false);
    if (sides.hasAttribute('data-sized')) resizeTo(Number(divider.getAttribute('aria-valuenow')));
  });
}
divider.addEventListener('dblclick', () => resizeTo());
/** @type {Record<string, number>} */
const steps = {
  ArrowLeft: -2,
  ArrowUp: -2,
  ArrowRight: 2,
  ArrowDown: 2,
  PageUp: -10,
  PageDown: 10,
  Home: -100,
  End: 100,
};
divider.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === 'Enter') resizeTo();
  else if (steps[event.key]) resizeTo(Number(divider.getAttribute('aria-valuenow')) + steps[event.key]);
  else return;
  event.preventDefault();
});

// ---- the bars

for (const name of names) {
  selectOf(name)?.addEventListener('change', (event) => {
    show(name, addressOf(/** @type {HTMLSelectElement} */ (event.target).value));
  });
}
// Frames that move keep what they show, such as a form that isn't saved yet. Browsers that would load them again follow the
// link.
sides.querySelector('[data-swap]')?.addEventListener('click', (event) => {
  const [left, right] = names.map(frameOf);
  if (!('moveBefore' in sides) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [to, from] = names.map(sideOf);
  to.moveBefore(right, null);
  from.moveBefore(left, null);
  [left.name, right.name] = ['right', 'left'];
  const options = names.map((name) => [...selectOf(name).options]);
  selectOf('left').replaceChildren(...options[1]);
  selectOf('right').replaceChildren(...options[0]);
  [shown.left, shown.right] = [shown.right, shown.left];
  update();
  measure();
  announce('Sides swapped.');
});

if (both) setUpDivider();
for (const frame of sides.querySelectorAll('iframe')) {
  frame.addEventListener('load', () => onLoad(frame));
  if (frame.contentDocument && frame.contentDocument.readyState !== 'loading') prepare(frame);
}
