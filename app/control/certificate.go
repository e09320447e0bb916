package control

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
)

func certificateShape(f *certificate.Info) *apitypes.Certificate {
	if f == nil {
		return nil
	}
	return &apitypes.Certificate{
		Names: f.Names, NotBefore: apitypes.At(f.NotBefore), NotAfter: apitypes.At(f.NotAfter), Fingerprint: f.Fingerprint,
		SelfSigned: f.SelfSigned,
	}
}
