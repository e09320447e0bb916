package metrics

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"deedkeep/app/apitypes"
)

// durationBuckets are upper bounds in seconds. They range from a page served from memory to a large upload over a
// slow connection.
var durationBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300}

// errorStatuses are the statuses that are counted individually because they indicate a client or server problem.
var errorStatuses = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusInsufficientStorage,
}

// clientGone is the status label for a server error that occurred because the client had closed the connection. It
// doesn't count as an error.
const clientGone = "canceled"

// httpMetrics are the metrics of HTTP requests.
type httpMetrics struct {
	inFlight prometheus.Gauge
	requests *prometheus.CounterVec   // labels: route, method, status
	seconds  *prometheus.HistogramVec // labels: route, method
	errors   *prometheus.CounterVec   // label: code
	ignored  prometheus.Counter
	in, out  prometheus.Counter
}

func newHTTPMetrics(registry prometheus.Registerer) *httpMetrics {
	auto := promauto.With(registry)
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Name: "deedkeep_http_" + name, Help: help}
	}
	t := &httpMetrics{
		inFlight: auto.NewGauge(prometheus.GaugeOpts{Name: "deedkeep_http_requests_in_flight", Help: "Number of requests in progress."}),
		requests: auto.NewCounterVec(counter("requests_total",
			"Number of requests by route pattern, method, and status class. \"gone\": the client disconnected before the response."),
			[]string{"route", "method", "status"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "deedkeep_http_request_duration_seconds", Buckets: durationBuckets,
			Help: "Time from the request headers to the end of the response, including transfer of the request and response bodies.",
		}, []string{"route", "method"}),
		errors: auto.NewCounterVec(counter("refusals_total",
			"Number of responses with status 401, 403, 408, 413, 429, 500, 503, or 507."), []string{"code"}),
		ignored: auto.NewCounter(counter("ignored_fields_total",
			"Number of responses that list ignored request fields or parameters.")),
		in:  auto.NewCounter(counter("request_body_bytes_total", "Total size of the request bodies read by the server.")),
		out: auto.NewCounter(counter("response_body_bytes_total", "Total size of the response bodies sent by the server.")),
	}
	for _, status := range errorStatuses {
		t.errors.WithLabelValues(strconv.Itoa(status))
	}
	return t
}

// Instrument returns a handler that counts the requests and responses of next. The route label is http.Request.Pattern,
// which next sets in the request; without a pattern it is "none". The ResponseWriter implements io.ReaderFrom, so that
// the kernel can still send files directly.
func (m *Metrics) Instrument(next http.Handler) http.Handler {
	t := m.http
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		t.inFlight.Inc()
		rec := &responseRecorder{ResponseWriter: w, clientErr: r.Context().Err}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &countingBody{r.Body, t.in}
		}
		completed := false
		defer func() {
			if !completed && rec.status == 0 {
				rec.status = http.StatusInternalServerError // assume a panic before any response
			}
			t.record(r, rec, time.Since(start))
		}()
		next.ServeHTTP(rec, r)
		completed = true
	})
}

func (h *httpMetrics) record(r *http.Request, rec *responseRecorder, took time.Duration) {
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	route, method := routeLabel(r.Pattern), methodLabel(r.Method)
	class := strconv.Itoa(status/100) + "xx"
	if rec.clientGone {
		class = clientGone
	}
	h.inFlight.Dec()
	h.requests.WithLabelValues(route, method, class).Inc()
	h.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	if !rec.clientGone && slices.Contains(errorStatuses, status) {
		h.errors.WithLabelValues(strconv.Itoa(status)).Inc()
	}
	if rec.Header().Get(apitypes.IgnoredFields) != "" {
		h.ignored.Inc()
	}
	h.out.Add(float64(rec.bytes))
}

// routeLabel returns pattern without its method.
func routeLabel(pattern string) string {
	if pattern == "" {
		return "none"
	}
	return pattern[strings.IndexByte(pattern, ' ')+1:]
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodOptions,
}

// methodLabel returns a known method or "other", because clients may send any method.
func methodLabel(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// responseRecorder records the status and the size of a response.
type responseRecorder struct {
	http.ResponseWriter
	clientErr  func() error // returns the error of the request's context
	status     int
	clientGone bool // the client closed the connection before a 5xx response
	bytes      int64
}

func (rr *responseRecorder) WriteHeader(status int) {
	// Informational responses precede the final one (RFC 9110, section 15.2).
	if rr.status == 0 && status >= http.StatusOK {
		rr.status = status
		rr.clientGone = status >= http.StatusInternalServerError && rr.clientErr() != nil
	}
	rr.ResponseWriter.WriteHeader(status)
}

func (rr *responseRecorder) Write(b []byte) (int, error) {
	n, err := rr.ResponseWriter.Write(b)
	rr.addBytes(int64(n))
	return n, err
}

// ReadFrom lets the connection copy r, which may use sendfile.
func (rr *responseRecorder) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(rr.ResponseWriter, r)
	rr.addBytes(n)
	return n, err
}

func (rr *responseRecorder) addBytes(n int64) {
	if rr.status == 0 {
		rr.status = http.StatusOK
	}
	rr.bytes += n
}

// Unwrap supports http.ResponseController.
func (rr *responseRecorder) Unwrap() http.ResponseWriter { return rr.ResponseWriter }

// countingBody counts the bytes that are read from a request body.
type countingBody struct {
	io.ReadCloser
	bytes prometheus.Counter
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(float64(n))
	return n, err
}
