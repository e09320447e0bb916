// @ts-check
// Opens the print dialog when all images have been loaded.

const progress = document.querySelector('[data-progress]');
const images = [...document.querySelectorAll('.viewer-printed img')];

const print = async () => {
  let loaded = 0;
  await Promise.all(
    images.map(async (image) => {
      try {
        await image.decode();
      } catch {
        image.alt = 'No preview of this page.';
      }
      loaded++;
      if (progress) progress.textContent = loaded < images.length ? `Loaded ${loaded} of ${images.length} pages.` : '';
    }),
  );
  window.print();
};
print();
