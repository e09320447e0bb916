package control

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/demo"
	"deedkeep/app/model"
)

// Demo fills the vault with the example firm. It calls progress in this goroutine. Only the result contains the one-time
// links of the users. If ctx ends, the records that exist by then stay.
func (c *Client) Demo(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Demo, error) {
	return followProgress[apitypes.Demo](ctx, c, "/control/demo", nil, progress)
}

func (h handler) demo(w http.ResponseWriter, r *http.Request) {
	streamProgress(h, w, r, "orders", func(report func(done, total int64)) (out apitypes.Demo, err error) {
		made, err := demo.Fill(r.Context(), h.App, operator(r), func(done, total int) { report(int64(done), int64(total)) })
		out = apitypes.Demo{Orders: made.Orders, Abstracts: made.Abstracts, Documents: made.Documents, Pages: made.Pages,
			Instruments: made.Instruments}
		for _, user := range made.Users {
			out.Users = append(out.Users, apitypes.UserLinked{Link: h.Origin + model.PasswordLinkPath + user.Token, Data: userShape(user.User)})
		}
		return out, err
	})
}
