// Package document inspects, reads, and renders untrusted documents: it
// tells their type from their content, counts pages, says in a sentence why a
// document is rejected, and returns text and page images for search, thumbnails, and
// the viewer.
//
// For any bytes whatever it returns a result or one of its errors and never panics.
// Memory is bounded by [InspectLimits] and [ExtractLimits], not by what a document
// claims, and reads are bounded by the document's size. A read that fails or a context
// that ends is an error of the caller's machine and never a finding about the document.
//
// Inspect doesn't decode: images are recognized by their headers, containers by their
// directories, and PDFs are left to the engine that the caller passes in. Nothing that a
// document names is run or fetched, nothing is unpacked to a file, and Office documents
// and plain text have no page images.
//
// Documents are opened in the worker processes of package sandbox. Extension
// and the Reason sentences may be used anywhere.
//
//	type               pages                     image   text
//	PDF                its pages                 yes     from PDFium
//	TIFF               its images                yes     no
//	PNG JPEG GIF …     1                         yes     no
//	TXT                1                         no      decoded
//	DOCX DOC           1                         no      body, notes, headers
//	XLSX XLS           its sheets                no      cells, by row
//	PPTX PPT           its slides                no      slides, notes
package document
