// Command oci writes a container image as an archive of an OCI image layout, without a container
// engine. For each platform, the image has one layer with the files of a folder, and no shell.
//
//	oci -root FOLDER -version v0.1.0 -created 2026-01-02T03:04:05Z -out deedkeep_oci.tar
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// account is the user and group of the server in the image. The data directory is the only folder that belongs to it.
const (
	account = 65532
	data    = "data"
)

func main() {
	root := flag.String("root", "", "folder with the files of the image, one subfolder for each platform such as linux_amd64")
	version := flag.String("version", "", "version of the program")
	created := flag.String("created", "", "time of the source in RFC 3339 format")
	out := flag.String("out", "", "archive to write")
	flag.Parse()
	if err := build(*root, *version, *created, *out); err != nil {
		fmt.Fprintln(os.Stderr, "oci:", err)
		os.Exit(1)
	}
}

// build writes an archive with an image for each platform in root.
func build(root, version, created, out string) error {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return err
	}
	platforms, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	index, name := v1.ImageIndex(empty.Index), "deedkeep:"+version
	var images []saved
	for _, p := range platforms {
		system, arch, ok := strings.Cut(p.Name(), "_")
		if !ok {
			return fmt.Errorf("%s isn't a platform such as linux_amd64", p.Name())
		}
		image, err := imageOf(filepath.Join(root, p.Name()), v1.Platform{OS: system, Architecture: arch}, version, at)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: system, Architecture: arch},
			Annotations: map[string]string{
				"org.opencontainers.image.ref.name": version, "io.containerd.image.name": "docker.io/library/" + name,
			},
		}})
		if arch == "amd64" {
			if images, err = savedImages(image, name); err != nil {
				return err
			}
		}
	}
	folder, err := os.MkdirTemp("", "oci")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, err := layout.Write(folder, index); err != nil {
		return err
	}
	list, err := json.Marshal(images)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), list, 0o600); err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := pack(&archive, folder, at); err != nil {
		return err
	}
	return os.WriteFile(out, archive.Bytes(), 0o644) // #nosec G306 -- a release is public
}

// saved is an image in manifest.json, which engines read that don't know the OCI image layout.
type saved struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func savedImages(image v1.Image, name string) ([]saved, error) {
	config, err := image.ConfigName()
	if err != nil {
		return nil, err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	one := saved{Config: "blobs/sha256/" + config.Hex, RepoTags: []string{name}}
	for _, layer := range manifest.Layers {
		one.Layers = append(one.Layers, "blobs/sha256/"+layer.Digest.Hex)
	}
	return []saved{one}, nil
}

// imageOf returns the image with the files of a folder.
func imageOf(folder string, platform v1.Platform, version string, at time.Time) (v1.Image, error) {
	var files bytes.Buffer
	if err := pack(&files, folder, at); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	})
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: at}, CreatedBy: "deedkeep " + version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, v1.Time{Time: at}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", account, account),
		Entrypoint:   []string{"/deedkeep"},
		Cmd:          []string{"serve"},
		Env:          []string{"DEEDKEEP_DATA=/data", "DEEDKEEP_LISTEN=:8443", "DEEDKEEP_TLS_SELF_SIGNED=true", "TMPDIR=/data"},
		ExposedPorts: map[string]struct{}{"8443/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		StopSignal:   "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title":   "deedkeep",
			"org.opencontainers.image.version": version,
		},
	}
	return mutate.ConfigFile(image, config)
}

// pack writes the folder as an archive, sorted by name, with one modification time.
func pack(w io.Writer, folder string, at time.Time) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(relative), Mode: 0o644, ModTime: at, Typeflag: tar.TypeReg, Size: info.Size(),
			Format: tar.FormatPAX}
		if info.Mode()&0o100 != 0 {
			header.Mode = 0o755
		}
		if entry.IsDir() {
			if relative == data {
				header.Mode, header.Uid, header.Gid = 0o700, account, account
			}
			header.Name, header.Typeflag, header.Size = header.Name+"/", tar.TypeDir, 0
			return t.WriteHeader(header)
		}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		file, err := os.Open(name) // #nosec G304 -- a file of the release
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(t, file)
		return err
	})
	if err != nil {
		return err
	}
	return t.Close()
}
