package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
	"deedkeep/app/titlecheck"
)

// Keys of further custom fields that a certificate reads and writes, if the template has them.
const (
	fieldEffectiveTime   = "effective_time"
	fieldIndicesSearched = "indices_searched"
)

// fieldAccepted is the member of a certificate with the findings that are accepted.
const fieldAccepted = "accepted"

// CertificateRequest is the input for a certificate.
type CertificateRequest struct {
	// Members are the fields of the certificate. One that is absent defaults to the abstract's field.
	Members model.Inputs
	// Match is a condition on Checks.Version.
	Match Match
	// AllAccepted rejects the certificate unless each finding is accepted.
	AllAccepted bool
}

// Certify certifies the search of an abstract through a date. It stores the runsheet as an Excel
// document of the abstract, adds its SHA-256 to the audit log, and writes the date, the start of the
// search, and the indexes to the abstract's fields. The certificate keeps the findings, with the reasons of those
// that are accepted. It returns Invalid, listing every invalid field, PreconditionFailed if the search changed since
// its findings were listed, or Conflict if other users keep changing it.
func (tw *TitleWork) Certify(ctx context.Context, actor model.Actor, abstract uint64, req CertificateRequest,
	idempotency Idempotency[model.Certificate]) (certificate model.Certificate, err error) {
	if err := tw.v.events.FlushViews(ctx); err != nil { // so that a document that was just opened counts
		return certificate, err
	}
	for range maxCertifyTries {
		certificate, err = tw.certify(ctx, actor, abstract, req, idempotency)
		if !errors.Is(err, errRunsheetChanged) {
			break
		}
	}
	return certificate, err
}

// maxCertifyTries is how many times a runsheet is stored if others change it at the same time.
const maxCertifyTries = 5

// errRunsheetChanged is returned if the search changed after its runsheet was stored and before it was
// certified.
var errRunsheetChanged = &errs.Error{Kind: errs.Conflict, Message: "The runsheet changed while you were certifying the search. Try again."}

// certify certifies a search unless it changes while its runsheet is stored.
func (tw *TitleWork) certify(ctx context.Context, actor model.Actor, abstract uint64, req CertificateRequest,
	idempotency Idempotency[model.Certificate]) (certificate model.Certificate, err error) {
	draft, findings, err := tw.checkedCertificate(ctx, abstract, req, idempotency)
	if err != nil {
		return certificate, err
	}
	stored := draft.version()
	upload, err := tw.stageRunsheet(ctx, abstract)
	if err != nil {
		return certificate, err
	}
	defer upload.Discard()
	checked, err := upload.commit()
	if err != nil {
		return certificate, err
	}
	defer func() { checked.finish(err) }()
	if len(checked.files) == 0 {
		return certificate, fmt.Errorf("the runsheet was rejected: %s", checked.rejected[0].Reason)
	}
	err = tw.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, tw.v); err != nil {
			return err
		}
		if draft, err = tw.draftCertificate(t, abstract, req); err != nil {
			return err
		}
		if draft.certificate.Examiner, err = profileOf(t, actor); err != nil {
			return err
		}
		switch {
		case draft.version() != stored:
			return errRunsheetChanged
		case len(draft.result.Files) >= tw.v.MaxFilesPerAbstract():
			return &errs.Error{Kind: errs.Conflict, Message: "The abstract has too many documents. Delete some first."}
		}
		return nil
	}, func(t *store.Tx) error {
		at := tw.v.Now()
		result, err := tw.v.Abstracts.attach(t, at, actor, draft.result, checked)
		if err != nil {
			return err
		}
		document := result.Files[len(result.Files)-1]
		before := result.Abstract
		result.Abstract.Custom = draft.custom
		last := draft.work.LastCertificate()
		certificate = draft.complete(findings, document, at, actor)
		return errors.Join(tw.v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "certificate.created",
			Record: model.RecordRef(AbstractOps.Name, abstract), Changes: append(last.Changes(certificate), before.Changes(result.Abstract)...),
			Detail: map[string]string{"sha256": document.Digest, "effective_date": certificate.EffectiveDate}}),
			t.PutAbstract(result.Abstract), t.PutTitleWork(draft.work),
			idempotency.SaveResponse(t, at, certificate))
	})
	tw.v.Queued.Notify()
	return certificate, err
}

// errNotCertifier is returned for voiding the certificate of another actor.
var errNotCertifier = &errs.Error{Kind: errs.Forbidden,
	Message: "Only the person who certified the search or an administrator can void this certificate."}

// Void voids a certificate that was issued by mistake. It stays in the list with the reason, but the search counts as
// certified only by another one. The abstract gets a new version, so that clients that list changes see it. Void returns
// NotFound if there is no such certificate, Forbidden unless the actor issued it or may administer the vault, Invalid
// without a reason, or Conflict if it is voided already.
func (tw *TitleWork) Void(ctx context.Context, actor model.Actor, abstract, id uint64, reason model.Input,
	idempotency Idempotency[model.Certificate]) (certificate model.Certificate, err error) {
	var record model.Abstract
	var work model.TitleWork
	var at int
	err = tw.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, tw.v); err != nil {
			return err
		}
		if record, err = t.Abstract(abstract); err != nil {
			return err
		}
		if work, err = t.TitleWork(abstract); err != nil {
			return err
		}
		at = slices.IndexFunc(work.Certificates, func(c model.Certificate) bool { return c.ID == id })
		if at < 0 {
			return errs.RecordNotFound("certificate", id)
		}
		switch certificate = work.Certificates[at]; {
		case !certificate.By.Is(actor) && tw.v.AuthorizeAdmin(t, actor) != nil:
			return errNotCertifier
		case certificate.Voided != nil:
			return &errs.Error{Kind: errs.Conflict, Message: "This certificate is already void."}
		}
		text, rejected := model.CheckVoidReason(reason)
		certificate.Voided = &model.Voided{At: tw.v.Now(), By: actor.Stored(), Reason: text}
		return rejected.Err()
	}, func(t *store.Tx) error {
		before, now := work.Certificates[at], certificate.Voided.At
		work.Certificates = slices.Clone(work.Certificates)
		work.Certificates[at] = certificate
		NextVersion(&record.Version, &record.UpdatedAt, now) // as certifying does
		return errors.Join(t.PutTitleWork(work), t.PutAbstract(record),
			tw.v.AddEntry(t, model.Event{At: now, Actor: actor, Kind: "certificate.voided",
				Record: model.RecordRef(AbstractOps.Name, abstract), Changes: before.Changes(certificate),
				Detail: map[string]string{"certificate": fmt.Sprint(id), "effective_date": certificate.EffectiveDate}}),
			idempotency.SaveResponse(t, now, certificate))
	})
	return certificate, err
}

// profileOf returns the full name and the title of an actor. API keys have none.
func profileOf(t *store.Tx, actor model.Actor) (model.Profile, error) {
	if actor.Kind != model.ActorUser {
		return model.Profile{}, nil
	}
	user, err := t.User(actor.ID)
	return user.Profile, err
}

// checkedCertificate returns a valid certificate and the findings about its search.
func (tw *TitleWork) checkedCertificate(ctx context.Context, abstract uint64, req CertificateRequest,
	idempotency Idempotency[model.Certificate]) (draft certificateDraft, findings []titlecheck.Finding, err error) {
	err = tw.v.Store.View(ctx, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, tw.v); err != nil { // a second click would find that the first one changed the search
			return err
		}
		if draft, err = tw.draftCertificate(t, abstract, req); err != nil {
			return err
		}
		findings, err = tw.findings(ctx, t, draft)
		return err
	})
	if err == nil && req.AllAccepted && len(titlecheck.Unaccepted(findings, draft.certificate.Accepted)) > 0 {
		err = errs.InvalidField(fieldAccepted, "Fix or accept each finding before you certify.")
	}
	return draft, findings, err
}

// draftCertificate returns a valid certificate, or Invalid or PreconditionFailed.
func (tw *TitleWork) draftCertificate(t *store.Tx, abstract uint64, req CertificateRequest) (certificateDraft, error) {
	draft, err := tw.newCertificate(t, abstract, req.Members)
	if err != nil {
		return draft, err
	}
	if err := req.Match.check(draft.version()); err != nil {
		return draft, err
	}
	return draft, draft.rejected.Err()
}

// certificateDraft is a certificate that isn't created yet, and what it changes.
type certificateDraft struct {
	result      AbstractWithFiles
	work        model.TitleWork
	custom      model.CustomValues
	certificate model.Certificate
	rejected    errs.Fields // why it can't be created
}

// version identifies a version of what a search is checked for: its fields, documents, instruments, names run,
// and requirements.
func (d *certificateDraft) version() uint64 {
	a, v := d.result.Abstract, d.work.Versions
	text := fmt.Sprint(a.Version, a.Files, d.work.RunsheetVersion, v.NamesRun, v.Requirements, len(d.work.Certificates))
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}

// complete adds the certificate to the title work after its runsheet was stored as document.
func (d *certificateDraft) complete(findings []titlecheck.Finding, document model.File, at time.Time, actor model.Actor) model.Certificate {
	certificate := d.certificate
	certificate.ID, certificate.At = uint64(len(d.work.Certificates)+1), at
	certificate.By = actor.Stored()
	certificate.FileID, certificate.Digest, certificate.RunsheetVersion = document.ID, document.Digest, d.work.RunsheetVersion
	certificate.Accepted, certificate.Unaccepted = titlecheck.Settle(findings, d.certificate.Accepted)
	d.work.Certificates = append(slices.Clone(d.work.Certificates), certificate)
	return certificate
}

// newCertificate validates a certificate against the abstract and its template.
func (tw *TitleWork) newCertificate(t *store.Tx, abstract uint64, members model.Inputs) (d certificateDraft, err error) {
	if d.result, err = AbstractOps.get(t, abstract); err != nil {
		return d, err
	}
	if d.work, err = existingTitleWork(t, abstract); err != nil {
		return d, err
	}
	a := d.result.Abstract
	var template model.Template
	if a.TemplateID != 0 {
		if template, err = t.Template(a.TemplateID); err != nil {
			return d, err
		}
	}
	all := model.Inputs{fieldAccepted: members[fieldAccepted]}
	custom := model.Custom{Values: model.Inputs{}}
	for _, key := range []string{model.KeyEffectiveDate, fieldEffectiveTime, model.KeySearchFrom, fieldIndicesSearched} {
		value, sent := members[key]
		field, found := template.CertificateField(key)
		if !sent {
			value = model.JSONInput(a.Custom[field.Key])
		}
		all[key] = value
		if sent && found && (field.Key == key || key == model.KeyEffectiveDate) { // a prior effective date stays
			custom.Values[field.Key] = value
		}
	}
	d.certificate, d.rejected = model.CheckCertificate(all, tw.v.localNow())
	patched, rejectedFields := model.AbstractPatch{Custom: model.Some(custom)}.Check(a, &template, tw.v.Settings.Rules)
	if d.custom = patched.Custom; len(d.rejected) == 0 {
		d.rejected = rejectedFields
	}
	return d, nil
}

// Checks are the findings about a search that isn't certified yet.
type Checks struct {
	Findings []titlecheck.Finding
	// Before says how findings were accepted in the latest certificate, or else in that of the prior search.
	Before  []model.AcceptedCheck
	Version uint64 // for CertificateRequest.Match
}

// Checks returns what to fix or to accept before the search of an abstract is certified. members are those of the
// certificate, as for Certify; invalid ones count as missing.
func (tw *TitleWork) Checks(ctx context.Context, abstract uint64, members model.Inputs) (checks Checks, err error) {
	if err := tw.v.events.FlushViews(ctx); err != nil {
		return checks, err
	}
	err = tw.v.Store.View(ctx, func(t *store.Tx) error {
		draft, err := tw.newCertificate(t, abstract, members)
		if err != nil {
			return err
		}
		checks.Version = draft.version()
		if checks.Findings, err = tw.findings(ctx, t, draft); err != nil {
			return err
		}
		last := draft.work.LastCertificate()
		if last.ID == 0 && draft.work.PriorID != 0 {
			prior, err := t.TitleWork(draft.work.PriorID)
			if err != nil {
				return err
			}
			last = prior.LastCertificate()
		}
		checks.Before = last.Accepted
		return nil
	})
	return checks, err
}

// findings returns the findings about a search.
func (tw *TitleWork) findings(ctx context.Context, t *store.Tx, d certificateDraft) ([]titlecheck.Finding, error) {
	sheet, err := tw.v.Instruments.runsheet(ctx, t, d.result.Abstract.ID)
	if err != nil {
		return nil, err
	}
	search := titlecheck.Search{Abstract: d.result.Abstract, Work: d.work, Types: sheet.Types, Certificate: d.certificate,
		Requirements: slices.Clone(d.work.Requirements), Today: tw.v.Instruments.today()}
	if d.work.PriorID != 0 {
		if search.Prior, err = t.TitleWork(d.work.PriorID); err != nil {
			return nil, err
		}
	}
	for _, i := range sheet.Instruments {
		search.Instruments = append(search.Instruments, titlecheck.Instrument{Instrument: i.Instrument, Type: i.Type, Status: i.Status})
		if i.Requirement != "" {
			search.Requirements = append(search.Requirements, model.RequirementRow{Kind: model.RequirementKind, InstrumentID: i.ID})
		}
	}
	for _, file := range d.result.Files {
		document := titlecheck.Document{File: file}
		if document.Opened, err = wasOpened(t, file.ID); err != nil {
			return nil, err
		}
		if tw.v.Settings.ReadsScans {
			document.Unread = file.PagesWaitingForOCR()
		}
		search.Documents = append(search.Documents, document)
	}
	return titlecheck.Run(&search), nil
}

// wasOpened reports whether the audit log says that someone opened or downloaded a document.
func wasOpened(t *store.Tx, file uint64) (bool, error) {
	for _, kind := range []string{audit.Opened, audit.Downloaded} {
		page, err := t.ListEvents(store.Query{Limit: 1, Filters: []store.Filter{
			{Column: model.ColumnRecord, Value: model.RecordRef(FileOps.Name, file)}, {Column: model.ColumnKind, Value: kind}}})
		if err != nil || len(page.Items) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// stageRunsheet stages the runsheet of an abstract as an Excel document.
func (tw *TitleWork) stageRunsheet(ctx context.Context, abstract uint64) (*StagedUpload, error) {
	rows, err := tw.v.Instruments.Rows(ctx, abstract)
	if err != nil {
		return nil, err
	}
	var book bytes.Buffer
	if err := runsheet.WriteExcel(&book, rows); err != nil {
		return nil, err
	}
	upload, err := tw.v.Files.Stage(ctx)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("Runsheet certified %s.xlsx", tw.v.Now().In(tw.v.zone()).Format("2006-01-02 1504"))
	if err := upload.Add(name, &book); err != nil {
		upload.Discard()
		return nil, err
	}
	return upload, nil
}
