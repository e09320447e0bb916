// @ts-check
// The thumbnail strip: its images load when they come near the visible area, after the page
// itself.

import { actions, base, isPhone, keys, query, viewer } from './viewer.js';
import { load, store } from './viewer-connection.js';
import { layout, pages, sizeOf, view } from './viewer-geometry.js';
import { imageUrl } from './viewer-images.js';
import { goTo } from './viewer-navigation.js';

const strip = query('[data-strip]');
/** @type {HTMLAnchorElement[]} */
const thumbnails = [];
/**
 * @param {HTMLElement} link
 * @param {number} i
 */
const turnThumbnail = (link, i) => {
  const { width, height } = sizeOf(pages[i]);
  const paper = link.querySelector('span');
  paper.style.aspectRatio = `${width} / ${height}`;
  paper.dataset.turn = String(pages[i].turn);
};
const buildStrip = () => {
  const list = strip.querySelector('ol');
  for (const i of pages.keys()) {
    const item = document.createElement('li');
    const link = document.createElement('a');
    const paper = document.createElement('span');
    const label = document.createElement('span');
    link.href = `${base}?page=${i + 1}`;
    link.dataset.n = String(i + 1);
    link.setAttribute('aria-label', `Page ${i + 1}`);
    paper.className = 'viewer-leaf-paper';
    label.textContent = String(i + 1);
    label.setAttribute('aria-hidden', 'true');
    link.append(paper, label);
    item.append(link);
    list.append(item);
    thumbnails.push(link);
    turnThumbnail(link, i);
  }
  strip.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-n]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(Number(link.dataset.n));
    if (isPhone()) showStrip(false);
  });
};
const thumbnailObserver = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const link = /** @type {HTMLElement} */ (entry.target);
      const image = link.querySelector('img');
      if (entry.isIntersecting && !image) {
        const thumbnail = new Image();
        thumbnail.alt = '';
        thumbnail.fetchPriority = 'low';
        thumbnail.decoding = 'async';
        thumbnail.src = imageUrl(link.dataset.n, 200);
        link.querySelector('span').append(thumbnail);
      } else if (!entry.isIntersecting && image && !image.complete) {
        image.src = '';
        image.remove();
      }
    }
  },
  { root: strip, rootMargin: '50% 0px' },
);

let stripShown = false;
/** @param {boolean} on */
export const showStrip = (on, remember = !isPhone()) => {
  if (on && !thumbnails.length) buildStrip();
  stripShown = on;
  viewer.classList.toggle('with-strip', on);
  const button = query('[data-do="strip"]');
  if (button) button.setAttribute('aria-pressed', String(on));
  if (remember) store('strip', on ? 'on' : 'off');
  for (const link of thumbnails) {
    if (on) thumbnailObserver.observe(link);
    else thumbnailObserver.unobserve(link);
  }
  updateStrip(view.current);
  if (view.ready) layout();
};
// On a narrow window, the thumbnails would leave too little space for the page.
matchMedia('(max-width: 44rem)').addEventListener('change', ({ matches }) => {
  if (matches && stripShown) showStrip(false, false);
  else if (!matches && !stripShown && load('strip') === 'on') showStrip(true);
});
/** @param {number} n */
const updateStrip = (n) => {
  const before = strip.querySelector('[aria-current]');
  const link = thumbnails[n - 1];
  if (before === link) return;
  if (before) before.removeAttribute('aria-current');
  if (!link) return;
  link.setAttribute('aria-current', 'page');
  if (!stripShown) return;
  const box = link.getBoundingClientRect(),
    frame = strip.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom)
    strip.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
  if (box.left < frame.left || box.right > frame.right)
    strip.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
};

viewer.addEventListener('viewer:shown', () => updateStrip(view.current));
viewer.addEventListener('viewer:rotated', () => thumbnails.forEach(turnThumbnail));
viewer.addEventListener('viewer:reconnected', () => {
  for (const image of strip.querySelectorAll('img')) {
    if (image.complete && !image.naturalWidth) image.src = image.getAttribute('src');
  }
});
actions.strip = () => showStrip(!stripShown);
keys.s = 'strip';
