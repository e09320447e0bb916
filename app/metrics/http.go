package metrics

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/apitypes"
)

// durationBuckets are from a page out of memory to a large upload over a poor line.
var durationBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300}

// errorStatuses are the statuses that are counted by themselves: those by which a client,
// or the machine, is in trouble.
var errorStatuses = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusInsufficientStorage,
}

// clientGone is the class of what ended as trouble of ours because its client had left before
// the answer began: it is nobody's trouble.
const clientGone = "gone"

// httpCollector is what HTTP brings.
type httpCollector struct {
	inFlight prometheus.Gauge
	requests *prometheus.CounterVec   // route, method, status
	seconds  *prometheus.HistogramVec // route, method
	errors   *prometheus.CounterVec   // code
	ignored  prometheus.Counter
	in, out  prometheus.Counter
}

func newHTTPCollector() *httpCollector {
	t := &httpCollector{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "deedkeep_http_requests_in_flight", Help: "Requests that are being answered, now."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "deedkeep_http_requests_total", Help: "Requests that were answered, by the pattern of their route, method and class of status; gone: the client left before an answer.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "deedkeep_http_request_duration_seconds", Buckets: durationBuckets,
			Help: "Time from the head of a request to the end of its answer, with the time in which the client sent its body and took the answer.",
		}, []string{"route", "method"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "deedkeep_http_refusals_total", Help: "Requests that were refused with a status by which a client or the machine is in trouble, whatever their route.",
		}, []string{"code"}),
		ignored: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "deedkeep_http_ignored_fields_total", Help: "Responses that name fields or parameters which the request sent and the server ignored.",
		}),
		in:  prometheus.NewCounter(prometheus.CounterOpts{Name: "deedkeep_http_request_body_bytes_total", Help: "Bytes of bodies that clients sent and the server read."}),
		out: prometheus.NewCounter(prometheus.CounterOpts{Name: "deedkeep_http_response_body_bytes_total", Help: "Bytes of bodies that the server sent."}),
	}
	for _, status := range errorStatuses {
		t.errors.WithLabelValues(strconv.Itoa(status))
	}
	return t
}

func (t *httpCollector) all() []prometheus.Collector {
	return []prometheus.Collector{t.inFlight, t.requests, t.seconds, t.errors, t.ignored, t.in, t.out}
}

// Describe is of prometheus.Collector.
func (t *httpCollector) Describe(to chan<- *prometheus.Desc) {
	for _, c := range t.all() {
		c.Describe(to)
	}
}

// Collect is of prometheus.Collector.
func (t *httpCollector) Collect(to chan<- prometheus.Metric) {
	for _, c := range t.all() {
		c.Collect(to)
	}
}

// Instrument counts what next answers. The route is http.Request.Pattern, which next sets
// in the request it is handed; without one it is "none". The writer that next gets
// keeps ReadFrom, so that the kernel still sends documents itself.
func (m *Metrics) Instrument(next http.Handler) http.Handler {
	t := m.http
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		t.inFlight.Inc()
		told := &responseRecorder{ResponseWriter: w, clientErr: r.Context().Err}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &countingBody{r.Body, t.in}
		}
		whole := false
		defer func() {
			if !whole && told.status == 0 {
				told.status = http.StatusInternalServerError // a panic before any answer
			}
			t.record(r, told, time.Since(begun))
		}()
		next.ServeHTTP(told, r)
		whole = true
	})
}

func (t *httpCollector) record(r *http.Request, told *responseRecorder, took time.Duration) {
	status := told.status
	if status == 0 {
		status = http.StatusOK
	}
	route, method := routeLabel(r.Pattern), methodLabel(r.Method)
	class := strconv.Itoa(status/100) + "xx"
	if told.clientGone {
		class = clientGone
	}
	t.inFlight.Dec()
	t.requests.WithLabelValues(route, method, class).Inc()
	t.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	if !told.clientGone && slices.Contains(errorStatuses, status) {
		t.errors.WithLabelValues(strconv.Itoa(status)).Inc()
	}
	if told.Header().Get(apitypes.IgnoredFields) != "" {
		t.ignored.Inc()
	}
	t.out.Add(float64(told.bytes))
}

// routeLabel is a pattern without its method.
func routeLabel(pattern string) string {
	if pattern == "" {
		return "none"
	}
	return pattern[strings.IndexByte(pattern, ' ')+1:]
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodOptions,
}

// methodLabel is a method, of which a client may send any.
func methodLabel(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// responseRecorder takes down what is answered.
type responseRecorder struct {
	http.ResponseWriter
	clientErr  func() error // of the client
	status     int
	clientGone bool // it had left when a failure was to be told
	bytes      int64
}

func (a *responseRecorder) WriteHeader(status int) {
	// What is informational comes before the answer (RFC 9110, section 15.2).
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
		a.clientGone = status >= http.StatusInternalServerError && a.clientErr() != nil
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *responseRecorder) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.addBytes(int64(n))
	return n, err
}

// ReadFrom leaves the copying to the connection.
func (a *responseRecorder) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(a.ResponseWriter, r)
	a.addBytes(n)
	return n, err
}

func (a *responseRecorder) addBytes(n int64) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.bytes += n
}

// Unwrap is for http.ResponseController.
func (a *responseRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// countingBody is a body whose bytes are counted as they are read.
type countingBody struct {
	io.ReadCloser
	bytes prometheus.Counter
}

func (h *countingBody) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.bytes.Add(float64(n))
	return n, err
}
