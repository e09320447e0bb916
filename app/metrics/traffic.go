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

// durations are from a page out of memory to a large upload over a poor line.
var durations = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300}

// refusals are the statuses that are counted by themselves: those by which a client,
// or the machine, is in trouble.
var refusals = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusInsufficientStorage,
}

// gone is the class of what ended as trouble of ours because its client had left before
// the answer began: it is nobody's trouble.
const gone = "gone"

// traffic is what HTTP brings.
type traffic struct {
	inFlight prometheus.Gauge
	requests *prometheus.CounterVec   // route, method, status
	seconds  *prometheus.HistogramVec // route, method
	refused  *prometheus.CounterVec   // code
	ignored  prometheus.Counter
	in, out  prometheus.Counter
}

func newTraffic() *traffic {
	t := &traffic{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "deedkeep_http_requests_in_flight", Help: "Requests that are being answered, now."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "deedkeep_http_requests_total", Help: "Requests that were answered, by the pattern of their route, method and class of status; gone: the client left before an answer.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "deedkeep_http_request_duration_seconds", Buckets: durations,
			Help: "Time from the head of a request to the end of its answer, with the time in which the client sent its body and took the answer.",
		}, []string{"route", "method"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "deedkeep_http_refusals_total", Help: "Requests that were refused with a status by which a client or the machine is in trouble, whatever their route.",
		}, []string{"code"}),
		ignored: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "deedkeep_http_ignored_fields_total", Help: "Responses that name fields or parameters which the request sent and the server ignored.",
		}),
		in:  prometheus.NewCounter(prometheus.CounterOpts{Name: "deedkeep_http_request_body_bytes_total", Help: "Bytes of bodies that clients sent and the server read."}),
		out: prometheus.NewCounter(prometheus.CounterOpts{Name: "deedkeep_http_response_body_bytes_total", Help: "Bytes of bodies that the server sent."}),
	}
	for _, status := range refusals {
		t.refused.WithLabelValues(strconv.Itoa(status))
	}
	return t
}

func (t *traffic) all() []prometheus.Collector {
	return []prometheus.Collector{t.inFlight, t.requests, t.seconds, t.refused, t.ignored, t.in, t.out}
}

// Describe is of prometheus.Collector.
func (t *traffic) Describe(to chan<- *prometheus.Desc) {
	for _, c := range t.all() {
		c.Describe(to)
	}
}

// Collect is of prometheus.Collector.
func (t *traffic) Collect(to chan<- prometheus.Metric) {
	for _, c := range t.all() {
		c.Collect(to)
	}
}

// Watch counts what next answers. The route is http.Request.Pattern, which next sets
// in the request it is handed; without one it is "none". The writer that next gets
// keeps ReadFrom, so that the kernel still sends documents itself.
func (m *Metrics) Watch(next http.Handler) http.Handler {
	t := m.http
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		t.inFlight.Inc()
		told := &answer{ResponseWriter: w, left: r.Context().Err}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &heard{r.Body, t.in}
		}
		whole := false
		defer func() {
			if !whole && told.status == 0 {
				told.status = http.StatusInternalServerError // a panic before any answer
			}
			t.note(r, told, time.Since(begun))
		}()
		next.ServeHTTP(told, r)
		whole = true
	})
}

func (t *traffic) note(r *http.Request, told *answer, took time.Duration) {
	status := told.status
	if status == 0 {
		status = http.StatusOK
	}
	route, method := route(r.Pattern), methodWord(r.Method)
	class := strconv.Itoa(status/100) + "xx"
	if told.gone {
		class = gone
	}
	t.inFlight.Dec()
	t.requests.WithLabelValues(route, method, class).Inc()
	t.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	if !told.gone && slices.Contains(refusals, status) {
		t.refused.WithLabelValues(strconv.Itoa(status)).Inc()
	}
	if told.Header().Get(apitypes.IgnoredFields) != "" {
		t.ignored.Inc()
	}
	t.out.Add(float64(told.bytes))
}

// route is a pattern without its method.
func route(pattern string) string {
	if pattern == "" {
		return "none"
	}
	return pattern[strings.IndexByte(pattern, ' ')+1:]
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodOptions,
}

// methodWord is a method, of which a client may send any.
func methodWord(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// answer takes down what is answered.
type answer struct {
	http.ResponseWriter
	left   func() error // of the client
	status int
	gone   bool // it had left when a failure was to be told
	bytes  int64
}

func (a *answer) WriteHeader(status int) {
	// What is informational comes before the answer (RFC 9110, section 15.2).
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
		a.gone = status >= http.StatusInternalServerError && a.left() != nil
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.wrote(int64(n))
	return n, err
}

// ReadFrom leaves the copying to the connection.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(a.ResponseWriter, r)
	a.wrote(n)
	return n, err
}

func (a *answer) wrote(n int64) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.bytes += n
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// heard is a body whose bytes are counted as they are read.
type heard struct {
	io.ReadCloser
	bytes prometheus.Counter
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.bytes.Add(float64(n))
	return n, err
}
