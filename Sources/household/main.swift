print("household: not furnished yet")
