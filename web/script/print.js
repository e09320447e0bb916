// Opens the print dialog when all images have been loaded.
(async () => {
  'use strict';

  const progress = document.querySelector('[data-progress]');
  const images = [...document.querySelectorAll('.viewer-printed img')];
  let loaded = 0;
  await Promise.all(images.map(async (image) => {
    try {
      await image.decode();
    } catch {
      image.alt = 'No preview of this page.';
    }
    loaded++;
    if (progress) progress.textContent = loaded < images.length ? `Loaded ${loaded} of ${images.length} pages.` : '';
  }));
  window.print();
})();
