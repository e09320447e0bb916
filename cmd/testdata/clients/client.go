// A client that knows nothing but net/http.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
)

func ask(method, url, key, contentType string, body io.Reader) (int, []byte) {
	request, err := http.NewRequest(method, url, body)
	check(err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := http.DefaultClient.Do(request)
	check(err)
	content, err := io.ReadAll(answer.Body)
	check(err)
	check(answer.Body.Close())
	return answer.StatusCode, content
}

func main() {
	base, key, weak, file, out := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	document, err := os.ReadFile(file)
	check(err)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	check(form.WriteField("county", "Wexcombe"))
	part, err := form.CreateFormFile("files[]", filepath.Base(file))
	check(err)
	_, err = part.Write(document)
	check(err)
	check(form.Close())
	status, content := ask(http.MethodPost, base+"/abstracts", key, form.FormDataContentType(), &body)
	if status != http.StatusCreated {
		log.Fatalf("%d %s", status, content)
	}
	var made struct {
		Data struct {
			Files []struct {
				DownloadURL string `json:"download_url"`
			}
		}
	}
	check(json.Unmarshal(content, &made))
	url := made.Data.Files[0].DownloadURL
	status, content = ask(http.MethodGet, url, key, "", nil)
	if status != http.StatusOK {
		log.Fatalf("%d %s", status, content)
	}
	check(os.WriteFile(out, content, 0o600))
	none, _ := ask(http.MethodGet, url, "", "", nil)
	refused, _ := ask(http.MethodGet, url, weak, "", nil)
	fmt.Println(none, refused)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
