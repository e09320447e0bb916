import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Client {
    static final HttpClient http = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

    static HttpRequest.Builder ask(String url, String key) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        return key.isEmpty() ? request : request.header("Authorization", "Bearer " + key);
    }

    static int status(String url, String key) throws Exception {
        return http.send(ask(url, key).build(), BodyHandlers.discarding()).statusCode();
    }

    static byte[] form(String boundary, Path file) throws Exception {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        String name = file.getFileName().toString();
        String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"county\"\r\n\r\nWexcombe\r\n"
            + "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files[]\"; filename=\"" + name + "\"\r\n\r\n";
        body.write(head.getBytes(StandardCharsets.UTF_8));
        body.write(Files.readAllBytes(file));
        body.write(("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8));
        return body.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        String base = args[0], key = args[1], weak = args[2];
        Path file = Path.of(args[3]), out = Path.of(args[4]);
        String boundary = "----title-plant";
        HttpResponse<String> made = http.send(ask(base + "/abstracts", key)
            .header("Content-Type", "multipart/form-data; boundary=" + boundary)
            .POST(HttpRequest.BodyPublishers.ofByteArray(form(boundary, file))).build(), BodyHandlers.ofString());
        Matcher link = Pattern.compile("\"download_url\":\"([^\"]*)\"").matcher(made.body());
        if (made.statusCode() != 201 || !link.find()) {
            throw new IllegalStateException(made.statusCode() + " " + made.body());
        }
        String url = link.group(1);
        HttpResponse<Path> got = http.send(ask(url, key).build(), BodyHandlers.ofFile(out));
        if (got.statusCode() != 200) {
            throw new IllegalStateException("download: " + got.statusCode());
        }
        System.out.println(status(url, "") + " " + status(url, weak));
    }
}
