package api

import (
	"bytes"
	"slices"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// form is a parsed body that may contain files. Its handler must discard the staged files.
type form struct {
	fields      bodyFields
	staged      *vault.StagedUpload
	nonFilePart bool  // a part or field with the name of a file field was not a file
	cost        int64 // memory for decoding the fields, in bytes
}

const (
	msgWantForm = "The Content-Type must be multipart/form-data, or application/x-www-form-urlencoded or application/json " +
		"when no files are sent."
	msgWantMultipart = "The Content-Type must be multipart/form-data."
	mediaForm        = "application/x-www-form-urlencoded"
	mediaMultipart   = "multipart/form-data"
)

// readForm reads a multipart body as a stream and writes files to disk as they arrive. The parts
// may come in any order. Fields that are not in known are recorded as ignored. If filesOptional
// is true, urlencoded and JSON bodies are accepted too.
func (s *server) readForm(r *request, known []string, filesOptional bool) (*form, error) {
	message, accepted := msgWantMultipart, func(t string) bool { return t == mediaMultipart }
	if filesOptional {
		message, accepted = msgWantForm, func(t string) bool { return t == mediaMultipart || t == mediaForm || decode.IsJSON(t) }
	}
	mediaType, boundary, err := r.mediaType(message, accepted)
	if err != nil {
		return nil, err
	}
	staged, err := s.App.Files.Stage(r.Context())
	if err != nil {
		return nil, err
	}
	values := formFields{}
	f := &form{fields: values, staged: staged}
	switch {
	case mediaType == mediaForm:
		err = s.readFormPairs(r, f, values, known)
	case mediaType == mediaMultipart:
		err = s.forEachPart(r, boundary, func(part *decode.Part) error { return f.addPart(r, part, values, known, s.Limits.FormFields) })
		if err == nil {
			err = r.memory.AcquireDecoded(r.Context(), f.cost)
		}
	case decode.IsJSON(mediaType):
		err = s.readFormMembers(r, f, known)
	}
	if err != nil {
		staged.Discard()
		return nil, err
	}
	return f, nil
}

// readPairs parses a urlencoded body into its name-value pairs.
func (s *server) readPairs(r *request) ([]decode.Pair, error) {
	raw, err := r.readAll(s.Limits.JSON)
	if err != nil {
		return nil, err
	}
	if err := r.memory.AcquireDecoded(r.Context(), httpx.DecodedCost(raw)); err != nil {
		return nil, err
	}
	pairs, err := decode.ParseForm(raw)
	r.digest.pairs(pairs)
	return pairs, err
}

// readFormMembers reads a JSON body. It can't contain files, so a file field with a value is an error.
func (s *server) readFormMembers(r *request, f *form, known []string) error {
	sent, err := r.object(s.Limits.JSON, slices.Concat(known, []string{"files", "files[]"})...)
	for name, value := range sent {
		if decode.IsFileField(name) && !slices.Contains([]string{"null", `""`, "[]"}, string(value)) {
			f.nonFilePart = true
		}
	}
	f.fields = jsonFields(sent)
	return err
}

func (s *server) readFormPairs(r *request, f *form, values formFields, known []string) error {
	pairs, err := s.readPairs(r)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		values[p.Name] = p.Value
		if decode.IsFileField(p.Name) {
			f.nonFilePart = f.nonFilePart || p.Value != ""
			continue
		}
		r.ignored.addUnknown(p.Name, known)
	}
	return nil
}

// forEachPart reads a multipart body and calls handle for each part as the part arrives.
func (s *server) forEachPart(r *request, boundary string, handle func(*decode.Part) error) error {
	limits := decode.MultipartLimits{Parts: s.Limits.Parts, Fields: s.Limits.FormFields}
	return httpx.ReadParts(r.w, r.Request, boundary, s.Limits.RequestBody, limits, func(part *decode.Part) error {
		end := r.digest.part(part)
		if err := handle(part); err != nil {
			return err
		}
		return end()
	})
}

// addPart reads one part. Only the name of the part determines whether it is a file, a
// field, or ignored.
func (f *form) addPart(r *request, part *decode.Part, values formFields, known []string, maxBytes int64) error {
	switch {
	case decode.IsFileField(part.Name) && part.HasFilename:
		return httpx.StageFile(f.staged, part)
	case decode.IsFileField(part.Name):
		empty, err := part.IsEmpty()
		f.nonFilePart = f.nonFilePart || !empty
		return err
	case slices.Contains(known, part.Name):
		value := fieldBuffer{r: r, maxBytes: maxBytes}
		if _, err := part.WriteTo(&value); err != nil {
			return err
		}
		values[part.Name] = value.String()
		f.cost += httpx.DecodedCost(value.Bytes())
	default:
		r.ignored.sent.add(part.Name)
	}
	return nil
}

// fieldBuffer stores the value of a field. Write reserves memory for the bytes it stores.
type fieldBuffer struct {
	bytes.Buffer
	r        *request
	maxBytes int64 // limit for all fields of a body combined
}

func (f *fieldBuffer) Write(p []byte) (int, error) {
	if err := f.r.memory.Add(f.r.Context(), int64(len(p)), f.maxBytes); err != nil {
		return 0, err
	}
	return f.Buffer.Write(p)
}

// hashBody reads the body and discards it. Its only purpose is to compute the digest.
func (s *server) hashBody(r *request) error {
	mediaType, boundary, err := r.mediaType("", func(string) bool { return true })
	switch {
	case err != nil || mediaType == "":
		return err
	case mediaType == mediaMultipart:
		return s.forEachPart(r, boundary, func(*decode.Part) error { return nil })
	case mediaType == mediaForm:
		_, err = s.readPairs(r)
		return err
	}
	raw, err := r.readAll(s.Limits.JSON)
	r.digest.json(raw)
	return err
}

// upload returns the draft for an upload that doesn't create an abstract.
func (f *form) upload() model.UploadDraft {
	return model.UploadDraft{FolderID: f.fields.number("folder_id"), NonFilePart: f.nonFilePart}
}
