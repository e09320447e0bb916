package settings_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/settings"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// picture returns a PNG with many colors.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.RGBA{byte(x), byte(y), byte(x * y), 255})
		}
	}
	var out bytes.Buffer
	vaulttest.NoError(t, png.Encode(&out, img))
	return out.Bytes()
}

// blank returns a PNG without content, which is small.
func blank(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	vaulttest.NoError(t, png.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})))
	return out.Bytes()
}

// hugePNG returns a PNG whose header states a size, with the pixels of another one.
func hugePNG(width, height uint32) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	header = append(header, 1, 0, 0, 0, 0)
	chunk := func(content []byte) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(content)-4))
		return binary.BigEndian.AppendUint32(append(out, content...), crc32.ChecksumIEEE(content))
	}
	pixels := []byte("IDAT\x78\x9c\x63\x00\x00\x00\x01\x00\x01")
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk(header), chunk(pixels), chunk([]byte("IEND")))
}

// animation returns a GIF with two frames.
func animation(t *testing.T) []byte {
	t.Helper()
	frame := image.NewPaletted(image.Rect(0, 0, 60, 40), color.Palette{color.White, color.Black})
	var out bytes.Buffer
	vaulttest.NoError(t, gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}))
	return out.Bytes()
}

// An uploaded image becomes a PNG or JPEG of limited size. Images that don't work are rejected with the reason.
func TestReadLogo(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	opts.Reader = vaulttest.ImageReader{}
	v := open(t, opts)
	defer vaulttest.Close(t, v)
	photo := picture(t, 900, 300)
	for _, row := range []struct {
		name          string
		upload        []byte
		width, height int
		want          string
	}{
		{"wide", photo, 600, 200, ""},
		{"high", picture(t, 300, 900), 200, 600, ""},
		{"small", picture(t, 40, 20), 40, 20, ""},
		{"animated", animation(t), 60, 40, ""},
		{"one pixel", picture(t, 1, 1), 0, 0, "The logo is 1 × 1 pixels."},
		{"a line", blank(t, 3000, 2), 0, 0, "The logo is 3000 × 2 pixels."},
		{"too wide", blank(t, 4100, 100), 0, 0, "The logo is 4100 × 100 pixels. Choose an image with 16 to 4000 pixels per side."},
		{"far too large", blank(t, 5000, 5000), 0, 0, "Choose an image with "},
		{"a header of 4,000 megapixels", hugePNG(65000, 65000), 0, 0, "Choose an image with "},
		{"a header of the largest size", hugePNG(1<<31-1, 1<<31-1), 0, 0, "The logo is "},
		{"a GIF of the largest size", []byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff," +
			"\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00;"), 0, 0, "The logo is "},
		{"too many bytes", append(photo, make([]byte, settings.MaxLogoBytes)...), 0, 0, "The logo is larger than 1 MB."},
		{"cut off", photo[:len(photo)/2], 0, 0, "The logo is damaged."},
		{"only a header", photo[:30], 0, 0, "The logo is damaged."},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), 0, 0, "is not a PNG or JPEG image"},
		{"page", []byte("<html><script>alert(1)</script>"), 0, 0, "is not a PNG or JPEG image"},
		{"PDF", []byte("%PDF-1.7"), 0, 0, "is not a PNG or JPEG image"},
		{"nothing", nil, 0, 0, "is not a PNG or JPEG image"},
	} {
		t.Run(row.name, func(t *testing.T) {
			logo, err := v.Stored.ReadLogo(t.Context(), vaulttest.Operator, row.upload)
			if row.want != "" {
				if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), row.want) {
					t.Errorf("ReadLogo: got %v, want Invalid with %q", err, row.want)
				}
				return
			}
			vaulttest.NoError(t, err)
			got, _, err := image.DecodeConfig(bytes.NewReader(logo.Image))
			if err != nil || got.Width != row.width || got.Height != row.height || bytes.Equal(logo.Image, row.upload) {
				t.Errorf("ReadLogo: got %d × %d, %v, want %d × %d", got.Width, got.Height, err, row.width, row.height)
			}
			if _, err := jpeg.Decode(bytes.NewReader(logo.Image)); (logo.Type == "image/jpeg") != (err == nil) {
				t.Errorf("ReadLogo: got the type %s", logo.Type)
			}
		})
	}
}

// busyReader is a Reader whose queue is full.
type busyReader struct{ vaulttest.Reader }

func (busyReader) Sizes(context.Context, sandbox.Request, document.ExtractLimits) ([]document.PageSize, error) {
	return nil, sandbox.ErrBusy
}

// A busy worker is not the fault of the image.
func TestReadLogoFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	opts.Reader = busyReader{}
	v := open(t, opts)
	defer vaulttest.Close(t, v)
	if _, err := v.Stored.ReadLogo(t.Context(), vaulttest.Operator, picture(t, 40, 40)); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("ReadLogo while the workers are busy: got %v, want Unavailable", err)
	}
}

// Administrators store, replace, and remove the logo, with audit entries. It is stored with the records.
func TestSetLogo(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	opts.Reader = vaulttest.ImageReader{}
	v := open(t, opts)
	var last settings.Logo
	for _, row := range []struct {
		upload []byte
		want   string
	}{
		{picture(t, 60, 30), "Logo: added"}, {picture(t, 30, 60), "Logo: replaced"}, {nil, "Logo: removed"}, {picture(t, 90, 30), "Logo: added"},
	} {
		last = settings.Logo{}
		if row.upload != nil {
			var err error
			last, err = v.Stored.ReadLogo(t.Context(), vaulttest.Operator, row.upload)
			vaulttest.NoError(t, err)
		}
		for range 2 { // the second time, nothing changes
			vaulttest.NoError(t, v.Stored.SetLogo(t.Context(), vaulttest.Operator, last))
		}
		events, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (store.Page[model.Event], error) {
			return tx.ListEvents(store.Query{Descending: true, Limit: 2})
		})
		vaulttest.NoError(t, err)
		if got := strings.Join(events.Items[0].Texts(), "; "); got != row.want || events.Items[1].Kind == "settings.changed" &&
			strings.Join(events.Items[1].Texts(), "") == row.want {
			t.Errorf("audit entry: got %q, want %q once", got, row.want)
		}
		if got := v.Stored.Logo(); got.Version != last.Version {
			t.Errorf("Logo: got version %s, want %s", got.Version, last.Version)
		}
	}
	err := v.Stored.SetLogo(t.Context(), model.Actor{Kind: model.ActorKey, ID: 1}, settings.Logo{})
	if errs.KindOf(err) != errs.Forbidden {
		t.Errorf("SetLogo with an API key: got %v, want Forbidden", err)
	}
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts) // which also verifies
	if got := v.Stored.Logo(); got.Version != last.Version || !bytes.Equal(got.Image, last.Image) || got.Type != last.Type {
		t.Errorf("Logo after reopening: got %s, %s, want %s, %s", got.Version, got.Type, last.Version, last.Type)
	}
}
