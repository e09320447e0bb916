// Opens the print dialog when all images have been loaded.
(async () => {
  'use strict';

  const button = document.querySelector('[data-print]');
  const progress = document.querySelector('[data-progress]');
  const images = [...document.querySelectorAll('.viewer-printed img')];
  if (button) button.addEventListener('click', () => window.print());
  let loaded = 0;
  await Promise.all(images.map(async (image) => {
    try {
      await image.decode();
    } catch {
      image.alt = 'There is no picture of this page.';
    }
    loaded++;
    if (progress) progress.textContent = loaded < images.length ? `Page ${loaded} of ${images.length} is here.` : '';
  }));
  window.print();
})();
