package admin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// restartServer restarts the server, unless the settings file or the environment has a problem.
func (p *Pages) restartServer(r *page.Request) error {
	if p.Restart == nil {
		return &errs.Error{Kind: errs.Conflict, Message: "This server can't restart itself. Restart its service."}
	}
	if err := p.App.Stored.Read(r.Context()); err != nil {
		return &errs.Error{Kind: errs.Conflict, Message: "The server wasn't restarted. " + sentence(err.Error()), Err: err}
	}
	if err := p.App.Stored.LogRestart(r.Context(), r.Actor); err != nil {
		return err
	}
	p.Restart()
	return r.Redirect(page.WithQuery(page.SettingsPath+"/restart", url.Values{"run": {p.Run}}))
}

// restartView is the template data of the page that is shown during a restart.
type restartView struct {
	Here    string   // address of this page
	Address string   // new address of the settings page; "" if it remains what the browser uses
	Office  []string // addresses for other computers, if this browser uses one that only works on the server's computer
	Port    string   // of these addresses
}

// restartPage is shown until the server runs again. Then it leads back to the settings, unless there are new addresses to
// read.
func (p *Pages) restartPage(r *page.Request) error {
	if r.URL.Query().Get("run") != p.Run {
		notice := "The server has restarted."
		if p.RestartError != "" {
			notice = "" // the settings page explains it
		}
		return p.RedirectWithNotice(r, page.SettingsPath, notice)
	}
	view := restartView{Here: r.URL.RequestURI()}
	p.addNewAddresses(r, &view)
	return p.RenderPage(r, http.StatusOK, "restart.html", page.Page{
		Heading: "Restarting", Section: "admin", Styles: adminStyles, Scripts: []string{"restart.js"}, Data: view,
	})
}

// addNewAddresses adds the addresses after a restart, if changed settings affect them.
func (p *Pages) addNewAddresses(r *page.Request, view *restartView) {
	changed := slices.ContainsFunc(p.App.Stored.Pending(), func(e config.Editable) bool {
		return slices.Contains([]string{"listen", "public_url", "tls.self_signed", "tls.automatic"}, e.Key)
	})
	c := p.App.Stored.Current()
	own, err := p.Origin(r.Request)
	if !changed || err != nil || len(c.TrustedProxies) > 0 && c.PublicURL == "" { // the proxy decides the address
		return
	}
	if next := nextOrigin(c, own); next != own {
		view.Address = next + page.SettingsPath
	}
	if isLoopback(own) {
		view.Office, view.Port = officeOrigins(c)
	}
}

// isLoopback reports whether only browsers on the server's computer can use an address.
func isLoopback(origin string) bool {
	address, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(address.Hostname())
	return strings.EqualFold(address.Hostname(), "localhost") || err == nil && ip.IsLoopback()
}

// nextOrigin returns the scheme and host with which a browser reaches a server with other settings. own is the one with
// which it reaches the server now.
func nextOrigin(c config.Config, own string) string {
	address, err := url.Parse(own)
	listenHost, port, errListen := net.SplitHostPort(c.Listen)
	if c.PublicURL != "" || err != nil || errListen != nil {
		return c.Origin(c.Listen)
	}
	host := address.Hostname()
	if ip, err := netip.ParseAddr(listenHost); err == nil && !ip.IsUnspecified() {
		host = listenHost
	}
	return originOf(c, host, port)
}

// originOf returns the scheme and host of a server at a host and port.
func originOf(c config.Config, host, port string) string {
	scheme, usual := "http", "80"
	if c.TLS.Enabled() {
		scheme, usual = "https", "443"
	}
	switch {
	case port != usual:
		return scheme + "://" + net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return scheme + "://[" + host + "]"
	}
	return scheme + "://" + host
}

// officeOrigins returns the schemes and hosts with which other computers in the office reach a server that listens on all
// addresses of its computer, and the port. There are none if it has a public address.
func officeOrigins(c config.Config) (origins []string, port string) {
	host, port, err := net.SplitHostPort(c.Listen)
	if ip, errIP := netip.ParseAddr(host); err != nil || c.PublicURL != "" || host != "" && (errIP != nil || !ip.IsUnspecified()) {
		return nil, ""
	}
	var names, v4, v6 []string
	for _, name := range certificate.LocalNames("") {
		switch ip, err := netip.ParseAddr(name); {
		case name == "localhost", err == nil && ip.IsLoopback():
		case err != nil:
			names = append(names, originOf(c, name, port))
		case ip.Is4():
			v4 = append(v4, originOf(c, name, port))
		default:
			v6 = append(v6, originOf(c, name, port))
		}
	}
	if len(v4) > 0 {
		v6 = nil // they change, and are hard to type
	}
	return slices.Concat(v4, v6, names), port
}
