// @ts-check
// Image loading: visible pages are loaded first, two at a time. If a page is scrolled out of view,
// loading its image is canceled.

import { base, query, viewer } from './viewer.js';
import { watchConnection } from './viewer-connection.js';
import { redraw, widths } from './viewer-geometry.js';

const images = new Map(); // address → { image, ready, pixels }
const loading = new Map(); // address → image
const failed = new Map(); // address → number of failures
/** @type {string[]} */
let wantedUrls = [];
let urgentCount = 0; // the first urgent ones are in view
const maxLoads = 2;
// Stops retrying an image that failed repeatedly.
const retries = 'broken' in viewer.dataset ? 0 : 1;
const maxPixels = 120e6;

/** @param {ViewerPage} page */
export const imageWidth = (page) => {
  // Use the width of the unrotated page, even if the page is rotated.
  const need = page.width * page.scale * Math.min(window.devicePixelRatio || 1, 3);
  const enough = page.pixels || (page.width / 96) * 300;
  const want = Math.min(need * 0.92, Math.max(enough, 850));
  return widths.find((w) => w >= want) || widths[widths.length - 1];
};
/**
 * @param {number | string} n
 * @param {number} width
 */
export const imageUrl = (n, width) => `${base}/pages/${n}?w=${width}`;

// If loading failed because the session expired or the server was unreachable, the pages are
// loaded again after the problem is resolved.
export const connection = watchConnection(query('.viewer-body'), () => {
  failed.clear();
  redraw();
  viewer.dispatchEvent(new Event('viewer:reconnected'));
});

// loadImages loads the images of the addresses that are wanted. The first urgent ones are in view.
/**
 * @param {string[]} wanted
 * @param {number} urgent
 */
export const loadImages = (wanted, urgent) => {
  wantedUrls = wanted;
  urgentCount = urgent;
  if (connection.state()) return;
  for (const [url, image] of loading) {
    if (wantedUrls.includes(url)) continue;
    loading.delete(url);
    image.src = '';
  }
  for (const [i, url] of wantedUrls.entries()) {
    // Load only visible pages first, because rendering keeps the server busy.
    if (loading.size >= maxLoads || (i >= urgentCount && wantedUrls.slice(0, urgentCount).some((u) => loading.has(u))))
      return;
    if (images.has(url) || loading.has(url) || (failed.get(url) || 0) > retries) continue;
    fetchImage(url);
  }
};

/** @param {string} url */
const fetchImage = async (url) => {
  const image = new Image();
  image.decoding = 'async';
  image.alt = '';
  loading.set(url, image);
  image.src = url;
  try {
    await image.decode();
  } catch {
    if (loading.get(url) !== image) return; // canceled
    loading.delete(url);
    if (!(await connection.checkSession())) failed.set(url, (failed.get(url) || 0) + 1);
    redraw();
    await new Promise((resolve) => {
      setTimeout(resolve, 1500);
    });
    redraw();
    return;
  }
  if (loading.get(url) !== image) return;
  loading.delete(url);
  failed.delete(url);
  images.set(url, image);
  evictImages();
  redraw();
};

// evictImages drops the least recently used images.
const evictImages = () => {
  let sum = 0;
  for (const image of images.values()) sum += image.naturalWidth * image.naturalHeight;
  for (const [url, image] of images) {
    if (sum <= maxPixels) return;
    if (wantedUrls.includes(url) || image.isConnected) continue;
    sum -= image.naturalWidth * image.naturalHeight;
    images.delete(url);
  }
};

/**
 * @param {number} n
 * @param {number} width
 */
export const bestImage = (n, width) => {
  const exact = imageUrl(n, width);
  const image = images.get(exact);
  if (image) {
    // mark as recently used
    images.delete(exact);
    images.set(exact, image);
    return image;
  }
  for (const w of [...widths].reverse()) {
    const other = images.get(imageUrl(n, w));
    if (other) return other;
  }
  return null;
};

// isBroken reports whether the image of an address can't be loaded.
/** @param {string} url */
export const isBroken = (url) => (failed.get(url) || 0) > retries;
export const isLoading = () => loading.size > 0;
// addImage stores the image that came with the page, unless its address is loaded already.
/**
 * @param {string} url
 * @param {HTMLImageElement} image
 */
export const addImage = (url, image) => {
  if (images.has(url)) return;
  images.set(url, image);
  redraw();
};
