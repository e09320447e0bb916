// Command bomcheck validates a CycloneDX document against the schema of its version.
//
//	bomcheck -schemas FOLDER <bom.json
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// files names the schema whose file has another name than its address.
var files = map[string]string{"jsf-0.82.schema.json": "jsf-0.82.schemax.json"}

// schemas loads schemas from a folder, by the last part of their address.
type schemas string

func (s schemas) Load(address string) (any, error) {
	name := path.Base(address)
	if other, ok := files[name]; ok {
		name = other
	}
	file, err := os.Open(filepath.Join(string(s), name))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read from
	return jsonschema.UnmarshalJSON(file)
}

func main() {
	log.SetFlags(0)
	folder := flag.String("schemas", "", "folder with the schemas of CycloneDX")
	flag.Parse()
	if err := run(os.Stdin, *folder); err != nil {
		log.Fatal("bomcheck: ", err)
	}
}

func run(in io.Reader, folder string) error {
	doc, err := jsonschema.UnmarshalJSON(in)
	if err != nil {
		return err
	}
	object, _ := doc.(map[string]any)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(schemas(folder))
	schema, err := compiler.Compile(fmt.Sprintf("http://cyclonedx.org/schema/bom-%v.schema.json", object["specVersion"]))
	if err != nil {
		return err
	}
	if err := schema.Validate(doc); err != nil {
		return err
	}
	components, _ := object["components"].([]any)
	fmt.Printf("CycloneDX %v with %d components\n", object["specVersion"], len(components))
	return nil
}
