// Command copy copies third-party files from node_modules to the directories that the binary
// embeds. It compresses scripts, styles, and engines with gzip and copies licenses unchanged. It
// also collects the licenses of Go modules from the module cache and gets the version of the source
// from git. It must run in web/ after "npm ci". The output is reproducible: the same packages
// result in the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// asset is a file to copy: its path in node_modules and its target path in web/.
type asset struct {
	from, to string
	pack     bool
}

var assets = []asset{
	{"@embedpdf/pdfium/dist/pdfium.wasm", "wasm/pdfium.wasm.gz", true},
	{"@embedpdf/pdfium/LICENSE", "wasm/LICENSE.embedpdf", false},
	{"@embedpdf/pdfium/LICENSE.pdfium", "wasm/LICENSE.pdfium", false},
	{"tesseract.js-core/tesseract-core-simd-lstm.wasm", "wasm/tesseract.wasm.gz", true},
	{"tesseract.js-core/LICENSE", "wasm/LICENSE.tesseract", false},
	{"../copy/tesseract-parts.txt", "wasm/LICENSE.tesseract-parts", false}, // for the libraries in tesseract.wasm
	{"@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz", "wasm/eng.traineddata.gz", false},
	{"htmx.org/dist/htmx.min.js", "vendor/htmx.min.js", false},
	{"htmx.org/LICENSE", "wasm/LICENSE.htmx", false},
	{"idiomorph/dist/idiomorph.min.js", "vendor/idiomorph.min.js", false},
	{"idiomorph/LICENSE", "wasm/LICENSE.idiomorph", false},
	{"sortablejs/Sortable.min.js", "vendor/sortable.min.js", false},
	{"sortablejs/LICENSE", "wasm/LICENSE.sortable", false},
	{"tus-js-client/dist/tus.min.js", "vendor/tus.min.js", false},
	{"tus-js-client/LICENSE", "wasm/LICENSE.tus", false},
	{"swagger-ui-dist/swagger-ui-bundle.js", "vendor/swagger-ui.js.gz", true},
	{"swagger-ui-dist/swagger-ui.css", "vendor/swagger-ui.css.gz", true},
	{"swagger-ui-dist/LICENSE", "wasm/LICENSE.swagger-ui", false},
	{"swagger-ui-dist/NOTICE", "wasm/LICENSE.swagger-ui-notice", false},
	{"swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt", "wasm/LICENSE.swagger-ui-parts", false}, // for the packages bundled in it
	{"js-base64/LICENSE.md", "wasm/LICENSE.js-base64", false},                                    // in tus.min.js, like the following ones
	{"url-parse/LICENSE", "wasm/LICENSE.url-parse", false},
	{"querystringify/LICENSE", "wasm/LICENSE.querystringify", false},
	{"requires-port/LICENSE", "wasm/LICENSE.requires-port", false},
}

func main() {
	log.SetFlags(0)
	if err := run("node_modules", ".", assets); err != nil {
		log.Fatal(err)
	}
	if err := writeModules(context.Background(), "deedkeep", "wasm"); err != nil {
		log.Fatal(err)
	}
	if err := writeVersion(context.Background(), ".", "wasm"); err != nil {
		log.Fatal(err)
	}
}

func run(packages, folder string, assets []asset) error {
	for _, a := range assets {
		content, err := os.ReadFile(filepath.Join(packages, filepath.FromSlash(a.from)))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := write(&out, content, a.pack); err != nil {
			return fmt.Errorf("pack %s: %w", a.from, err)
		}
		// #nosec G306 -- everyone on the build machine may read it
		if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(a.to)), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write writes content, compressed if pack is set. The gzip header contains neither a time nor a
// name, so that the same input always results in the same output.
func write(out io.Writer, content []byte, pack bool) error {
	if !pack {
		_, err := out.Write(content)
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	return z.Close()
}
