// Package demo fills a new vault with an example firm: orders, abstracts, scans, instruments, and users. Everything in it
// is invented, and the same for vaults that are filled on the same day. It works only through the services of the
// vault, so the audit log has entries, and an interrupted fill leaves complete records. The vault stays marked as that of
// an example firm, see instance.Instance.MarkExample.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// User is a user of the example firm. Token is that of a one-time link for choosing a password.
type User struct {
	model.User
	Token string
}

// Result is what Fill created.
type Result struct {
	Orders, Abstracts, Documents, Pages, Instruments int
	Users                                            []User
}

// filler fills a vault.
type filler struct {
	*instance.Instance
	ctx      context.Context
	actor    model.Actor   // the administrator
	staff    []model.Actor // by the index in people
	today    time.Time
	texts    *template.Template
	faces    faces
	result   Result
	progress func(done, total int)
}

// names returns the usernames of the example firm.
func names() (list []string) {
	for _, p := range people {
		list = append(list, p.name)
	}
	return list
}

// Check returns the Conflict of Fill if the vault can't be filled.
func Check(ctx context.Context, in *instance.Instance) error { return in.CheckExample(ctx, names()...) }

// Fill fills a vault without records. It returns Conflict, and the vault stays as it is, if the vault has records or was
// filled already. progress is called after each order.
func Fill(ctx context.Context, in *instance.Instance, actor model.Actor, progress func(done, total int)) (Result, error) {
	f := &filler{Instance: in, ctx: ctx, actor: actor, progress: progress}
	year, month, day := in.Now().In(in.Stored.Location()).Date()
	f.today = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	var err error
	if f.texts, err = newTexts(); err != nil {
		return f.result, err
	}
	if f.faces, err = newFaces(); err != nil {
		return f.result, err
	}
	if err := in.MarkExample(ctx, actor, names()...); err != nil {
		return f.result, err
	}
	for _, step := range []func() error{f.addUsers, f.addFiles, f.addFolders, f.finishUsers} {
		if err := step(); err != nil {
			return f.result, fmt.Errorf("fill the vault with the example firm: %w", err)
		}
	}
	return f.result, nil
}

// addUsers creates the users and signs them in with random passwords, so that the audit log and certificates name them.
// If two-factor authentication is required, they can't work, and the administrator does it.
func (f *filler) addUsers() error {
	for _, p := range people {
		random := make([]byte, 24)
		if _, err := io.ReadFull(f.Rand, random); err != nil {
			return err
		}
		password := base64.RawURLEncoding.EncodeToString(random)
		_, user, err := f.Users.Create(f.ctx, f.actor, model.UserDraft{Name: p.name, Role: p.role, Password: &password,
			Profile: model.ProfilePatch{FullName: &p.fullName, Title: &p.title}})
		if err != nil {
			return err
		}
		f.result.Users = append(f.result.Users, User{User: user})
		actor := f.actor
		if p.role == model.RoleStaff && !f.RequireTwoFactor() {
			in, err := f.Users.SignIn(f.ctx, auth.SignInDraft{Name: p.name, Password: password})
			if err != nil {
				return err
			}
			if actor, err = f.Sessions.Authenticate(f.ctx, in.Token); err != nil {
				return err
			}
		}
		f.staff = append(f.staff, actor)
	}
	return nil
}

// finishUsers replaces the passwords with one-time links and ends the sessions.
func (f *filler) finishUsers() error {
	for n, user := range f.result.Users {
		token, now, err := f.Users.Reset(f.ctx, f.actor, user.ID)
		if err != nil {
			return err
		}
		f.result.Users[n] = User{now, token}
	}
	return nil
}

// examiner returns who does the title work.
func (f *filler) examiner() model.Actor { return f.staff[1] }

// searcher returns the ID of the user who searches the title of a file.
func (f *filler) searcher(file *file) uint64 { return f.result.Users[file.n%2].ID }

func (f *filler) addFiles() error {
	list := files(f.today)
	for n, file := range list {
		f.progress(n, len(list))
		order, err := f.addOrder(file)
		if err == nil && file.product != "" {
			err = f.addAbstract(file, order)
		}
		if err != nil {
			return fmt.Errorf("order %s: %w", file.number, err)
		}
	}
	return nil
}

// day returns a date, counted from today.
func (f *filler) day(days int) string { return f.today.AddDate(0, 0, days).Format(time.DateOnly) }

// input returns the input with a value.
func input(value any) (model.Input, error) {
	raw, err := json.Marshal(value)
	return model.JSONInput(raw), err
}

func custom(values map[string]any) (model.Custom, error) {
	in, err := input(values)
	return model.Custom{Values: in.Members}, err
}

func (f *filler) addOrder(file *file) (model.Order, error) {
	done := slices.Contains([]string{"Complete", "Cancelled"}, file.status) || file.n > 35
	due := (file.n*3+5)%14 - 2 // from the day before yesterday
	if done {
		due -= 20
	}
	values := map[string]any{"transaction_type": []string{"Purchase", "Refinance", "Home Equity"}[file.n%3],
		"product": cmp.Or(file.product, "Current Owner"), "client": file.client, "client_file_number": fmt.Sprintf("C-%d", 70100+file.n*13),
		"buyer_borrower": strings.Join(party(5*file.n+31), "; "), "seller_owner": strings.Join(file.owners, "; "), "parcel_id": file.parcel,
		"rush": []string{"Standard", "Standard", "Rush"}[file.n%3]}
	if file.n%5 == 0 {
		values["notes"] = "Call 555-0163 or write to closings@example.com when the search is done."
	}
	fields, err := custom(values)
	if err != nil {
		return model.Order{}, err
	}
	order, err := f.Orders.Create(f.ctx, f.actor, model.OrderDraft{Custom: fields, Fields: model.Inputs{
		"order_number": model.StringInput(file.number), "due_date": model.StringInput(f.day(due)), "address": model.StringInput(file.street),
		"city": model.StringInput(file.city), "county": model.StringInput(file.county), "state": model.StringInput("OH")}},
		vault.Idempotency[model.Order]{})
	changed := model.Inputs{}
	switch {
	case file.status == "Cancelled":
		changed["status"] = model.StringInput("cancelled")
	case done:
		changed["status"] = model.StringInput("completed")
	case file.n%9 == 8:
		changed["status"] = model.StringInput("on_hold")
	}
	if file.product != "" {
		changed["assignee"] = model.NumberInput(f.searcher(file))
	}
	f.result.Orders++
	if err != nil || len(changed) == 0 {
		return order, err
	}
	return f.Orders.Patch(f.ctx, f.actor, order.ID, model.OrderPatch{Fields: changed}, vault.Match{})
}

// addFolders uploads documents that belong to no abstract.
func (f *filler) addFolders() error {
	list, err := f.Folders.List(f.ctx)
	if err != nil {
		return err
	}
	all := files(f.today)
	for _, row := range []struct{ folder, name, text, extension string }{
		{"Inbox", "Search request", "Letter", ".pdf"}, {"Plats & Surveys", "Plat of " + all[3].subdivision, "Plat", ".tif"},
		{"Starters & Prior Abstracts", "Starter " + all[30].street, "Warranty Deed", ".pdf"},
	} {
		at := slices.IndexFunc(list, func(folder model.Folder) bool { return folder.Name == row.folder })
		p := &paper{file: all[30], Type: row.text}
		p.record(f.today.AddDate(-9, 0, 0))
		p.Grantors, p.Grantees = party(77), p.owners
		content, err := f.scan(row.extension, p)
		if err != nil {
			return err
		}
		upload, err := f.stage([]document{{row.name + row.extension, content}})
		if err != nil {
			return err
		}
		_, err = f.Files.Upload(f.ctx, f.actor, model.UploadDraft{FolderID: model.NewIDInput(list[at].ID)}, upload,
			vault.Idempotency[vault.AbstractWithFiles]{})
		upload.Discard()
		if err != nil {
			return err
		}
	}
	return nil
}

// scan returns one document with the papers, and notes their pages.
func (f *filler) scan(extension string, papers ...*paper) ([]byte, error) {
	var all bytes.Buffer
	pages := 0
	for n, p := range papers {
		var text bytes.Buffer
		if err := f.texts.ExecuteTemplate(&text, p.Type, p); err != nil {
			return nil, err
		}
		if n > 0 {
			all.WriteString("\n---\n")
		}
		p.first, p.last = pages+1, pages+1+strings.Count(text.String(), "\n---\n")
		pages = p.last
		all.Write(text.Bytes())
	}
	if pages > 1 && extension != textLayer {
		extension = ".pdf"
	}
	f.result.Pages += pages
	return encode(extension, drawPages(f.faces, all.String(), uint64(f.result.Pages)))
}

type document struct {
	name    string
	content []byte
}

// stage uploads documents. The caller discards the result.
func (f *filler) stage(documents []document) (*vault.StagedUpload, error) {
	upload, err := f.Files.Stage(f.ctx)
	if err != nil {
		return nil, err
	}
	f.result.Documents += len(documents)
	for _, d := range documents {
		if err := upload.Add(d.name, bytes.NewReader(d.content)); err != nil {
			upload.Discard()
			return nil, err
		}
	}
	return upload, nil
}
