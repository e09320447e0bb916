// Package document inspects, reads, and renders untrusted documents. It detects the type of a
// document from its content, counts its pages, and returns a sentence that says why a document is
// rejected. It returns text for search, and page images for thumbnails and the viewer.
//
// For arbitrary bytes, it returns a result or one of its errors and never panics. [InspectLimits]
// and [ExtractLimits] limit the memory it uses, regardless of what a document claims. The size of
// the document limits how much is read. If a read fails or a context ends, the document is not to
// blame, and the error says so.
//
// Inspect doesn't decode documents. It recognizes images by their headers and containers by their
// directories, and opens PDFs with the engine that the caller provides. The package never runs or
// downloads anything that a document refers to, and never unpacks anything to a file. Office
// documents and plain text have no page images.
//
// Documents are opened in the worker processes of package sandbox. Other packages may call
// Extension and use the Reason sentences.
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
