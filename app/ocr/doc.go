// Package ocr reads the words on images of pages with Tesseract, which runs as WebAssembly on wazero.
//
// A Page is the result for one page. Its words are in reading order and say where they are on
// the page, so that they can be marked, selected, and searched.
package ocr
