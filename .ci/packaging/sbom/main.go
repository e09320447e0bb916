// Command sbom adds the npm packages in the binary, and the libraries in its WebAssembly engines, to a CycloneDX
// document with the Go modules.
//
//	sbom -created 2026-01-02T03:04:05Z <go-modules.json >all.json
//
// It runs in the repository.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// lockedPackage is a package in package-lock.json.
type lockedPackage struct {
	Version      string            `json:"version"`
	Integrity    string            `json:"integrity"`
	License      string            `json:"license"`
	Dev          bool              `json:"dev"`
	Dependencies map[string]string `json:"dependencies"`
}

// engineParts are the libraries that are compiled into the WebAssembly of an npm package, besides those that
// tesseract-parts.txt lists.
var engineParts = map[string][]string{"@embedpdf/pdfium": {"PDFium"}, "tesseract.js-core": {"Tesseract"}}

func main() {
	log.SetFlags(0)
	created := flag.String("created", "", "time of the source in RFC 3339 format")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *created); err != nil {
		log.Fatal("sbom: ", err)
	}
}

func run(in io.Reader, out io.Writer, created string) error {
	var doc cdx.BOM
	if err := cdx.NewBOMDecoder(in, cdx.BOMFileFormatJSON).Decode(&doc); err != nil {
		return fmt.Errorf("read the Go modules: %w", err)
	}
	packages, err := lockedPackages("web/package-lock.json")
	if err != nil {
		return err
	}
	source, err := os.ReadFile("web/copy/main.go")
	if err != nil {
		return err
	}
	parts, err := os.ReadFile("web/copy/tesseract-parts.txt")
	if err != nil {
		return err
	}
	for _, m := range regexp.MustCompile(`(?m)^---- (.+) ----$`).FindAllSubmatch(parts, -1) {
		engineParts["tesseract.js-core"] = append(engineParts["tesseract.js-core"], string(m[1]))
	}
	doc.Metadata.Timestamp = created
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		component, err := componentOf(name, packages[name], strings.Contains(string(source), `{"`+name+`/`))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*doc.Components = append(*doc.Components, component)
		*doc.Dependencies = append(*doc.Dependencies, dependencyOf(name, packages))
	}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(&doc, doc.SpecVersion)
}

// lockedPackages returns the packages that a build needs, by name.
func lockedPackages(file string) (map[string]lockedPackage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock struct{ Packages map[string]lockedPackage }
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	packages := make(map[string]lockedPackage)
	for folder, p := range lock.Packages {
		if name, ok := strings.CutPrefix(folder, "node_modules/"); ok && !p.Dev {
			packages[name] = p
		}
	}
	return packages, nil
}

func packageURL(name string, p lockedPackage) string {
	return "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
}

// componentOf describes a package. A package of which nothing is in the binary has the scope "excluded".
func componentOf(name string, p lockedPackage, copied bool) (cdx.Component, error) {
	digest, ok := strings.CutPrefix(p.Integrity, "sha512-")
	if !ok {
		return cdx.Component{}, fmt.Errorf("the digest %q isn't SHA-512", p.Integrity)
	}
	sum, err := base64.StdEncoding.DecodeString(digest)
	if err != nil {
		return cdx.Component{}, err
	}
	c := cdx.Component{
		BOMRef: packageURL(name, p), PackageURL: packageURL(name, p), Type: cdx.ComponentTypeLibrary,
		Name: name, Version: p.Version, Scope: cdx.ScopeExcluded,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: hex.EncodeToString(sum)}},
	}
	if p.License != "" {
		c.Licenses = &cdx.Licenses{{Expression: p.License}}
	}
	if copied {
		c.Scope = cdx.ScopeRequired
	}
	var parts []cdx.Component
	for _, part := range engineParts[name] {
		parts = append(parts, cdx.Component{BOMRef: c.BOMRef + "#" + part, Type: cdx.ComponentTypeLibrary, Name: part})
	}
	if parts != nil {
		c.Components = &parts
	}
	return c, nil
}

// dependencyOf lists the packages that a package needs.
func dependencyOf(name string, packages map[string]lockedPackage) cdx.Dependency {
	needed := []string{}
	for _, other := range slices.Sorted(maps.Keys(packages[name].Dependencies)) {
		if p, ok := packages[other]; ok {
			needed = append(needed, packageURL(other, p))
		}
	}
	return cdx.Dependency{Ref: packageURL(name, packages[name]), Dependencies: &needed}
}
