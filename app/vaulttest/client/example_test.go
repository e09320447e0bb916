package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"deedkeep/app/vaulttest/client"
)

func ExampleClient_CreateOrder() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"message":"The due date field must match the format Y-m-d.",`+
			`"errors":{"due_date":["The due date field must match the format Y-m-d."]}}`)
	}))
	defer srv.Close()

	vault := client.New(srv.URL+"/v1", "dk_live_…", http.DefaultTransport)
	_, err := vault.CreateOrder(context.Background(), client.OrderDraft{OrderNumber: "T-2026-0417", DueDate: "15 June"})
	var failure *client.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Status, failure.Errors.Of("due_date"))
	}
	// Output: 422 [The due date field must match the format Y-m-d.]
}
