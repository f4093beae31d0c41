import requests

answer = requests.post("http://127.0.0.1:8000/predict", json={"input": [[1.0, 2.0, 3.0]]})
print(answer.json())
