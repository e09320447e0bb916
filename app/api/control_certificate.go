package api

import (
	"deedkeep/app/certificate"
	"deedkeep/app/wire"
)

func certificateShape(f *certificate.Facts) *wire.Certificate {
	if f == nil {
		return nil
	}
	return &wire.Certificate{
		Names: f.Names, NotBefore: wire.At(f.NotBefore), NotAfter: wire.At(f.NotAfter), Fingerprint: f.Fingerprint, SelfSigned: f.SelfSigned,
	}
}
