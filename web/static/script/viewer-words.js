// @ts-check
// The words of a page, laid over its image. They are invisible and can be selected and copied.

const measure = document.createElement('canvas').getContext('2d');
measure.font = '100px sans-serif';

export const wordLayer = () => {
  const layer = document.createElement('div');
  layer.className = 'viewer-words';
  return layer;
};

// place puts a word over its box. The font is as high as the box, and the word is stretched to its
// width. On a rotated page, the word is rotated, too. cqw and cqh are 1% of the page's width
// and height, so that the word stays in place at every zoom.
/**
 * @param {HTMLElement} span
 * @param {string} text
 * @param {number[]} rect
 * @param {number} rotation
 * @param {number} ratio
 */
const place = (span, text, [left, top, right, bottom], rotation, ratio) => {
  const width = right - left,
    height = bottom - top; // of the box, in percent of the page
  const upright = rotation % 180 === 0;
  const length = upright ? width * ratio : height,
    size = upright ? height : width * ratio; // in percent of the page's height
  const stretch = length / ((size * measure.measureText(text).width) / 100);
  const corner = { 0: [left, top], 90: [left, bottom], 180: [right, bottom], 270: [right, top] }[rotation];
  span.style.left = `${corner[0]}%`;
  span.style.top = `${corner[1]}%`;
  span.style.fontSize = `${size}cqh`;
  span.style.transform = `rotate(${-rotation}deg) scaleX(${stretch})`;
};

// fillWords lays the words over a page, once. The page's width and height give its proportions.
/**
 * @param {HTMLElement} el
 * @param {PageWords} page
 * @param {ViewerPage} size
 */
export const fillWords = (el, { words, scale, rotation = 0 }, { width, height }) => {
  const layer = el.querySelector('.viewer-words');
  if (!words.length || layer.firstChild) return;
  el.setAttribute('role', 'group'); // an image would hide the words from screen readers
  layer.append(
    ...words.map(({ text, box, breaks = 0 }) => {
      const span = document.createElement('span');
      span.textContent = text + (breaks ? '\n'.repeat(breaks) : ' ');
      place(
        span,
        text,
        box.map((side) => (100 * side) / scale),
        rotation,
        width / height,
      );
      return span;
    }),
  );
};
